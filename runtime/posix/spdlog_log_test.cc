#include "runtime/posix/spdlog_log.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <nlohmann/json.hpp>
#include <string>

namespace skerry::runtime {
namespace {

// Collects what a sink writes.
class Captured {
 public:
  explicit Captured(LogForm form) {
    stream_ = open_memstream(&text_, &size_);
    sink_ = std::make_unique<SpdlogSink>(stream_, form, Severity::kInfo);
    InstallLogSink(sink_.get());
  }
  ~Captured() {
    InstallLogSink(nullptr);
    sink_.reset();
    fclose(stream_);
    free(text_);
  }
  std::string Text() {
    fflush(stream_);
    return std::string(text_, size_);
  }

 private:
  char* text_ = nullptr;
  size_t size_ = 0;
  std::FILE* stream_;
  std::unique_ptr<SpdlogSink> sink_;
};

TEST(SpdlogSinkTest, AJsonLineHoldsTimeSeverityEventAndTypedFields) {
  Captured captured(LogForm::kJson);
  Log(Severity::kWarning, "stream.lost",
      {{"peer", "worker \"1\"\n"},
       {"wait_ms", 12},
       {"bytes", uint64_t{1} << 63},
       {"again", true},
       {"ratio", 0.5},
       {"status", absl::NotFoundError("x")}});
  const auto line = nlohmann::json::parse(captured.Text());
  EXPECT_EQ(line["severity"], "warning");
  EXPECT_EQ(line["event"], "stream.lost");
  EXPECT_EQ(line["peer"], "worker \"1\"\n");
  EXPECT_EQ(line["wait_ms"], 12);
  EXPECT_EQ(line["bytes"], uint64_t{1} << 63);
  EXPECT_EQ(line["again"], true);
  EXPECT_EQ(line["ratio"], 0.5);
  EXPECT_EQ(line["status"], "NOT_FOUND: x");
  EXPECT_EQ(line["time"].get<std::string>().back(), 'Z');
}

TEST(SpdlogSinkTest, BytesThatAreNotTextDoNotCostTheLine) {
  Captured captured(LogForm::kJson);
  Log(Severity::kError, "peer.odd", {{"name", "\xff{}%v"}});
  const auto line = nlohmann::json::parse(captured.Text());
  EXPECT_EQ(line["event"], "peer.odd");
}

TEST(SpdlogSinkTest, ATextLineQuotesOnlyWhatNeedsIt) {
  Captured captured(LogForm::kText);
  Log(Severity::kInfo, "worker.started",
      {{"address", "127.0.0.1:1"}, {"note", "two words"}, {"n", 3}});
  const std::string text = captured.Text();
  EXPECT_NE(text.find("I worker.started address=127.0.0.1:1 "
                      "note=\"two words\" n=3\n"),
            std::string::npos)
      << text;
}

TEST(SpdlogSinkTest, EventsBelowTheLeastSeverityAreDropped) {
  Captured captured(LogForm::kText);
  Log(Severity::kDebug, "detail");
  EXPECT_EQ(captured.Text(), "");
}

}  // namespace
}  // namespace skerry::runtime
