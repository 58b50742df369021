#include "transport/grpc/trial.h"

#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>
#include <vector>

#include "transport/grpc/testing/bulk_nodes.h"

namespace skerry::transport {
namespace {

using Endpoints = std::vector<std::string>;

// Nobody listens on port 1 of this machine.
constexpr char kNowhere[] = "127.0.0.1:1";

class TrialTest : public BulkNodesTest {
 protected:
  ~TrialTest() override {
    loop_.Run([this] { trial_.reset(); });
  }
  // Worker "a" dials.
  absl::StatusOr<double> Dial(const std::string& worker, Endpoints endpoints) {
    std::promise<absl::StatusOr<double>> outcome;
    loop_.Run([&] {
      if (trial_ == nullptr) {
        trial_ = std::make_unique<Trial>(
            TrialOptions{"a", cluster_.Make(cluster_.Worker("a"), files_)},
            loop_.loop);
      }
      trial_->Dial(worker, std::move(endpoints),
                   [&](absl::StatusOr<double> found) {
                     outcome.set_value(std::move(found));
                   });
    });
    return outcome.get_future().get();
  }
  std::unique_ptr<Trial> trial_;
};

TEST_F(TrialTest, AWorkerThatAnswersGivesARoundTrip) {
  Node& b = Make("b", "b");
  const auto found = Dial("b", {b.bulk->address()});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_GT(*found, 0);
}

TEST_F(TrialTest, TheNextEndpointIsDialledWhenOneDoesNotAnswer) {
  Node& b = Make("b", "b");
  EXPECT_TRUE(Dial("b", {kNowhere, b.bulk->address()}).ok());
}

TEST_F(TrialTest, WhatCameOfEachEndpointIsSaidInOneLine) {
  const auto found = Dial("b", {kNowhere, "127.0.0.1:2"});
  EXPECT_TRUE(absl::IsUnavailable(found.status()));
  const std::string text(found.status().message());
  EXPECT_NE(text.find("127.0.0.1:1: Connection refused; 127.0.0.1:2: "),
            std::string::npos)
      << text;
}

TEST_F(TrialTest, AnotherWorkerAtTheAddressIsNotTheOneThatIsMeant) {
  Node& c = Make("c", "c");
  const auto found = Dial("b", {c.bulk->address()});
  EXPECT_TRUE(absl::IsUnavailable(found.status()));
  EXPECT_NE(std::string(found.status().message()).find("worker/c answers"),
            std::string::npos)
      << found.status();
}

}  // namespace
}  // namespace skerry::transport
