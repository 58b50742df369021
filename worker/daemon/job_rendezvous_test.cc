#include "worker/daemon/job_rendezvous.h"

#include <grpcpp/grpcpp.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/skerry/v1/peer.grpc.pb.h"
#include "proto/skerry/v1/trainer.grpc.pb.h"
#include "runtime/testing/manual_loop.h"
#include "transport/directory.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::worker {
namespace {

using ::testing::HasSubstr;

constexpr char kHead[] = "head0";

// Makes places as a trainer does.
class Trainer final : public v1::Trainer::Service {
 public:
  grpc::Status OpenGroup(grpc::ServerContext*,
                         const v1::OpenGroupRequest* request,
                         v1::OpenGroupReply* reply) override {
    const std::lock_guard lock(mutex_);
    requests_.push_back(*request);
    reply->set_bootstrap("here");
    return error_;
  }
  void Fail(grpc::Status error) { error_ = std::move(error); }
  std::vector<v1::OpenGroupRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  std::mutex mutex_;
  std::vector<v1::OpenGroupRequest> requests_;
  grpc::Status error_;
};

// A head that answers what it is told to, in turn; the last answer stays.
class Head final : public v1::Peer::Service {
 public:
  grpc::Status Meet(grpc::ServerContext*, const v1::MeetRequest* request,
                    v1::MeetReply* reply) override {
    const std::lock_guard lock(mutex_);
    asked_.push_back(*request);
    reply->set_bootstrap("there");
    return answers_[std::min(asked_.size(), answers_.size()) - 1];
  }
  void Answer(std::vector<grpc::Status> answers) {
    answers_ = std::move(answers);
  }
  std::vector<v1::MeetRequest> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  std::mutex mutex_;
  std::vector<v1::MeetRequest> asked_;
  std::vector<grpc::Status> answers_ = {grpc::Status::OK};
};

// The meeting of one worker, with a trainer and a head that answer in place of
// real ones.
class JobRendezvousTest : public testing::Test {
 protected:
  JobRendezvousTest() {
    std::string folder = "/tmp/skerry-meet-XXXXXX";
    folder_ = mkdtemp(folder.data());
    const std::string address = absl::StrCat("unix:", folder_, "/s");
    grpc::ServerBuilder builder;
    transport::AddPlaintextPort(address, builder);
    builder.RegisterService(&trainer_);
    builder.RegisterService(&head_);
    server_ = builder.BuildAndStart();
    directory_.Learn({{kHead, {address}}});
    peers_.emplace(loop_, directory_, transport::Credentials::Plaintext());
    client_.emplace(folder_ + "/s", loop_);
  }
  ~JobRendezvousTest() override {
    server_->Shutdown();
    std::filesystem::remove_all(folder_);
  }

  JobRendezvous& Make(const std::string& address) {
    rendezvous_ = std::make_unique<JobRendezvous>(
        RendezvousOptions{JobId(3), *peers_, "north", address}, loop_);
    return *rendezvous_;
  }
  // Searches as that rank of three.
  void Find(uint32_t rank) {
    rendezvous_->Find({Life(5), rank, 3, {}}, kHead, *client_,
                      [this](absl::StatusOr<std::string> found) {
                        ++answers_;
                        found_ = std::move(found);
                      });
  }
  // What another worker hears; null until it does.
  std::shared_ptr<std::optional<absl::StatusOr<std::string>>> Ask(
      uint32_t rank, const std::string& host) {
    auto heard = std::make_shared<std::optional<absl::StatusOr<std::string>>>();
    rendezvous_->OnMeet({Life(5), rank, host},
                        [heard](absl::StatusOr<std::string> answer) {
                          *heard = std::move(answer);
                        });
    return heard;
  }
  template <typename Good>
  void RunUntil(Good good) {
    while (!good()) {
      if (loop_.Advance(absl::Milliseconds(10)) == 0) {
        std::this_thread::yield();
      }
    }
  }
  void RunUntilFound() {
    RunUntil([this] { return answers_ > 0; });
    loop_.RunUntilIdle();
    EXPECT_EQ(answers_, 1);
  }

  runtime::ManualLoop loop_;
  std::string folder_;
  Trainer trainer_;
  Head head_;
  std::unique_ptr<grpc::Server> server_;
  transport::Directory directory_;
  std::optional<PeerClient> peers_;
  std::optional<TrainerClient> client_;
  // On the heap, so that a sanitizer sees who uses it when it is gone.
  std::unique_ptr<JobRendezvous> rendezvous_;
  int answers_ = 0;
  absl::StatusOr<std::string> found_ = absl::UnknownError("not found yet");
};

TEST_F(JobRendezvousTest, TheHeadTellsAllWhereOnceAllHaveAsked) {
  Make("10.0.0.1");
  Find(0);
  const auto first = Ask(1, "north");
  loop_.RunUntilIdle();
  EXPECT_TRUE(trainer_.requests().empty());
  const auto second = Ask(2, "south");
  RunUntilFound();
  EXPECT_EQ(found_.value(), "here");
  EXPECT_EQ((*first)->value(), "here");
  EXPECT_EQ((*second)->value(), "here");
  ASSERT_EQ(trainer_.requests().size(), 1u);
  EXPECT_EQ(trainer_.requests()[0].size(), 3u);
  EXPECT_EQ(trainer_.requests()[0].address(), "10.0.0.1");
  // Whoever has not heard it asks again.
  EXPECT_EQ((*Ask(2, "south"))->value(), "here");
}

TEST_F(JobRendezvousTest, WorkersOfOneHostShareMemory) {
  Make("10.0.0.1");
  Find(0);
  const auto first = Ask(1, "north");
  const auto second = Ask(2, "north");
  RunUntilFound();
  EXPECT_EQ(trainer_.requests()[0].address(), "");
}

TEST_F(JobRendezvousTest, AHeadThatSharesMemoryOnlyMeetsNobodyElsewhere) {
  Make("");
  Find(0);
  const auto first = Ask(1, "north");
  const auto second = Ask(2, "south");
  RunUntilFound();
  EXPECT_TRUE(absl::IsAborted(found_.status()));
  EXPECT_THAT(std::string(found_.status().message()),
              HasSubstr("--shared-memory-only"));
  EXPECT_TRUE(absl::IsAborted((*first)->status()));
  EXPECT_TRUE(trainer_.requests().empty());
}

TEST_F(JobRendezvousTest, WhatIsWrongWithTheHeadsTrainerIsItsOwn) {
  trainer_.Fail(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "in no group"));
  Make("10.0.0.1");
  Find(0);
  const auto first = Ask(1, "north");
  const auto second = Ask(2, "north");
  RunUntilFound();
  EXPECT_TRUE(absl::IsUnimplemented(found_.status()));
  EXPECT_TRUE(absl::IsAborted((*first)->status()));
}

TEST_F(JobRendezvousTest, ASearchThatIsCancelledIsAnsweredOnce) {
  Make("10.0.0.1");
  Find(0);
  const auto first = Ask(1, "north");
  const auto second = Ask(2, "south");
  // The trainer's answer is on its way.
  RunUntil([this] { return !trainer_.requests().empty(); });
  rendezvous_->Cancel();
  RunUntilFound();
  EXPECT_TRUE(absl::IsAborted(found_.status()));
  EXPECT_TRUE(absl::IsAborted((*first)->status()));
  // A new search is not mixed up with it.
  Find(0);
  RunUntil([this] { return loop_.RunUntilIdle() == 0; });
  EXPECT_EQ(answers_, 1);
}

TEST_F(JobRendezvousTest, AnotherWorkerAsksTheHeadUntilItKnowsTheLife) {
  const grpc::Status not_yet(grpc::StatusCode::UNAVAILABLE, "not yet");
  head_.Answer({not_yet, not_yet, grpc::Status::OK});
  Make("10.0.0.1");
  Find(2);
  RunUntilFound();
  EXPECT_EQ(found_.value(), "there");
  ASSERT_EQ(head_.asked().size(), 3u);
  EXPECT_EQ(head_.asked()[2].job(), 3u);
  EXPECT_EQ(head_.asked()[2].life(), 5u);
  EXPECT_EQ(head_.asked()[2].rank(), 2u);
  EXPECT_EQ(head_.asked()[2].host(), "north");
}

// A job may be deleted while its worker waits to ask again, and while the head
// has not answered.
TEST_F(JobRendezvousTest, NobodyAsksForAJobThatIsGone) {
  const grpc::Status not_yet(grpc::StatusCode::UNAVAILABLE, "not yet");
  for (const bool answered : {true, false}) {
    const size_t before = head_.asked().size();
    head_.Answer({not_yet, not_yet, not_yet});
    Make("10.0.0.1");
    Find(2);
    RunUntil([&] { return head_.asked().size() > before; });
    if (answered) RunUntil([&] { return head_.asked().size() > before + 1; });
    rendezvous_.reset();
    const size_t asked = head_.asked().size();
    for (int i = 0; i < 3; ++i) {
      loop_.Advance(absl::Seconds(1));
      loop_.RunUntilIdle();
    }
    EXPECT_EQ(head_.asked().size(), asked);
    EXPECT_EQ(answers_, 0);
  }
}

TEST_F(JobRendezvousTest,
       AHeadThatEndsTheLifeOrIsOfAnotherReleaseIsNotAskedOn) {
  for (const grpc::StatusCode code :
       {grpc::StatusCode::ABORTED, grpc::StatusCode::UNIMPLEMENTED}) {
    answers_ = 0;
    const size_t before = head_.asked().size();
    head_.Answer({grpc::Status(code, "no")});
    Make("10.0.0.1");
    Find(1);
    RunUntilFound();
    EXPECT_TRUE(absl::IsAborted(found_.status())) << found_.status();
    EXPECT_EQ(head_.asked().size(), before + 1);
  }
  EXPECT_THAT(std::string(found_.status().message()),
              HasSubstr("install one release"));
}

}  // namespace
}  // namespace skerry::worker
