#include "transport/grpc/library_log.h"

#include <google/protobuf/struct.pb.h>
#include <grpc/support/log.h>

#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/log.h"

namespace skerry::transport {
namespace {

using ::testing::ElementsAre;

class EventNames final : public runtime::LogSink {
 public:
  void Write(runtime::Severity, std::string_view event,
             std::span<const runtime::LogField>) override {
    names.emplace_back(event);
  }

  std::vector<std::string> names;
};

TEST(LibraryLogTest, WhatLibrariesSayIsAnEvent) {
  EventNames sink;
  runtime::InstallLogSink(&sink);
  TakeLibraryLogs();
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  gpr_log(GPR_ERROR, "a channel broke");
  // Field 3 is a string, and this is not UTF-8.
  EXPECT_FALSE(google::protobuf::Value().ParseFromString("\x1a\x01\xff"));
  runtime::InstallLogSink(nullptr);
  EXPECT_THAT(sink.names, ElementsAre("library.grpc", "library.protobuf"));
}

TEST(LibraryLogTest, FailedHandshakesAreCounted) {
  TakeLibraryLogs();
  gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
  const uint64_t before = FailedHandshakes();
  gpr_log(GPR_ERROR,
          "Handshake failed with fatal error SSL_ERROR_SSL: wrong version "
          "number");
  gpr_log(GPR_ERROR, "a channel broke");
  EXPECT_EQ(FailedHandshakes(), before + 1);
}

}  // namespace
}  // namespace skerry::transport
