#include "worker/daemon/trainer_host.h"

#include <grpcpp/grpcpp.h>
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"
#include "proto/skerry/v1/trainer.grpc.pb.h"
#include "runtime/testing/manual_loop.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::worker {
namespace {

// Answers as a trainer does.
class Answers final : public v1::Trainer::Service {
 public:
  grpc::Status Describe(grpc::ServerContext*, const v1::DescribeRequest*,
                        v1::DescribeReply* reply) override {
    reply->set_element_count(8);
    if (++described_ == 2 && holds_second_) {
      may_answer_.WaitForNotification();
    }
    return grpc::Status::OK;
  }
  int described() const { return described_; }

  // The second answer waits for Release(). Call it before the first question.
  void HoldSecond() { holds_second_ = true; }
  void Release() { may_answer_.Notify(); }

 private:
  std::atomic<int> described_ = 0;
  bool holds_second_ = false;
  absl::Notification may_answer_;
};

// The start itself, and the answers to two Describe calls.
constexpr size_t kTasksUntilReady = 3;

// A host whose process sleeps, and the trainer that answers in its place.
class TrainerHostTest : public testing::Test {
 protected:
  TrainerHostTest() {
    // A socket's path is short.
    std::string folder = "/tmp/skerry-host-XXXXXX";
    folder_ = mkdtemp(folder.data());
    TrainerHostOptions options;
    options.command = {"/bin/sh", "-c", "exec sleep 600"};
    options.run_directory = folder_;
    // Tests in sandboxes have process ids of their own, and share the memory
    // that is named so.
    name_ = std::filesystem::path(folder_).filename();
    options.name = name_;
    host_ = std::make_unique<TrainerHost>(
        std::move(options), loop_,
        [this](const v1::DescribeReply&) { ++ready_; },
        [this](absl::Status why) {
          ++failed_;
          why_ = std::move(why);
        },
        [this] { ++answered_; });
  }
  ~TrainerHostTest() override {
    host_.reset();
    if (server_ != nullptr) server_->Shutdown();
    std::filesystem::remove_all(folder_);
  }

  // Starts the process, and opens the socket that it would open.
  void Start() {
    ran_ += loop_.RunUntilIdle();
    grpc::ServerBuilder builder;
    transport::AddPlaintextPort(
        absl::StrCat("unix:", folder_, "/", name_, ".sock"), builder);
    builder.RegisterService(&answers_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  template <typename Good>
  void RunUntil(Good good) {
    while (!good()) {
      ASSERT_EQ(failed_, 0) << why_;
      const size_t ran = loop_.RunUntilIdle();
      ran_ += ran;
      if (ran == 0) std::this_thread::yield();
    }
  }

  // Returns when every answer of a start has reached the host.
  void RunUntilAnswered() {
    RunUntil([&] { return ran_ >= kTasksUntilReady; });
  }

  runtime::ManualLoop loop_;
  std::string folder_;
  std::string name_;
  Answers answers_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<TrainerHost> host_;
  size_t ran_ = 0;  // tasks
  int answered_ = 0;
  int ready_ = 0;
  int failed_ = 0;
  absl::Status why_;
};

TEST_F(TrainerHostTest, ADescribedTrainerIsReady) {
  Start();
  RunUntil([&] { return ready_ > 0; });
  EXPECT_EQ(answers_.described(), 2);
  EXPECT_EQ(answered_, 1);
  EXPECT_GT(host_->pid(), 0);
  EXPECT_EQ(host_->memory()->bytes().size(), 8 * sizeof(float));
  EXPECT_EQ(failed_, 0);
}

// The trainer in this test does not know the question.
TEST_F(TrainerHostTest, AnAskedTrainerAnswers) {
  absl::Status answer;
  const auto ask = [&] {
    host_->AskProgress([&](const absl::StatusOr<TrainerProgress>& progress) {
      answer = progress.status();
    });
  };
  ask();
  EXPECT_TRUE(absl::IsUnavailable(answer)) << answer;
  Start();
  RunUntilAnswered();
  ask();
  RunUntil([&] { return !absl::IsUnavailable(answer); });
  EXPECT_TRUE(absl::IsUnimplemented(answer)) << answer;
}

TEST_F(TrainerHostTest, ATrainerThatIsOfNoUseFails) {
  Start();
  RunUntilAnswered();
  host_->OnCallFailed(absl::DeadlineExceededError("it stands still"));
  loop_.RunUntilIdle();
  EXPECT_EQ(failed_, 1);
  EXPECT_EQ(why_.message(), "it stands still");
}

// The answer that makes it ready is on its way when the owner has no more use
// for it. A worker died of that once.
TEST_F(TrainerHostTest, ASilencedTrainerIsNotReady) {
  answers_.HoldSecond();
  Start();
  RunUntil([&] { return answers_.described() == 2; });
  host_->Silence();
  answers_.Release();
  RunUntilAnswered();
  loop_.Advance(absl::Seconds(5));
  EXPECT_EQ(ready_, 0);
  EXPECT_EQ(failed_, 0);
}

TEST_F(TrainerHostTest, AHostThatIsSilencedAtOnceStartsNothing) {
  host_->Silence();
  loop_.Advance(absl::Seconds(5));
  EXPECT_EQ(loop_.NextTimer(), std::nullopt);
  EXPECT_EQ(ready_ + failed_, 0);
}

TEST_F(TrainerHostTest, ASilencedTrainerDoesNotFail) {
  Start();
  RunUntil([&] { return ready_ > 0; });
  host_->OnCallFailed(absl::InternalError("it cannot go on"));
  host_->Silence();
  loop_.Advance(absl::Seconds(5));
  EXPECT_EQ(failed_, 0);
}

}  // namespace
}  // namespace skerry::worker
