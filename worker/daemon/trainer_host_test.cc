#include "worker/daemon/trainer_host.h"

#include <grpcpp/grpcpp.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
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
    ++described_;
    return grpc::Status::OK;
  }
  grpc::Status Pause(grpc::ServerContext*, const v1::PauseRequest*,
                     v1::PauseReply*) override {
    return grpc::Status::OK;
  }
  int described() const { return described_; }

 private:
  std::atomic<int> described_ = 0;
};

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
    options.name = absl::StrCat("test-", getpid());
    host_ = std::make_unique<TrainerHost>(
        std::move(options), loop_,
        [this](const v1::DescribeReply&) { ++ready_; },
        [this](absl::Status) { ++failed_; }, [] {});
  }
  ~TrainerHostTest() override {
    host_.reset();
    if (server_ != nullptr) server_->Shutdown();
    std::filesystem::remove_all(folder_);
  }

  // Starts the process, and opens the socket that it would open.
  void Start() {
    loop_.RunUntilIdle();
    grpc::ServerBuilder builder;
    transport::AddPlaintextPort(
        absl::StrCat("unix:", folder_, "/test-", getpid(), ".sock"), builder);
    builder.RegisterService(&answers_);
    server_ = builder.BuildAndStart();
    ASSERT_NE(server_, nullptr);
  }

  template <typename Good>
  void RunUntil(Good good) {
    while (!good()) {
      if (loop_.RunUntilIdle() == 0) std::this_thread::yield();
    }
  }

  runtime::ManualLoop loop_;
  std::string folder_;
  Answers answers_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<TrainerHost> host_;
  int ready_ = 0;
  int failed_ = 0;
};

TEST_F(TrainerHostTest, ADescribedTrainerIsReady) {
  Start();
  RunUntil([&] { return ready_ > 0; });
  EXPECT_EQ(answers_.described(), 2);
  EXPECT_GT(host_->pid(), 0);
  EXPECT_EQ(host_->memory()->bytes().size(), 8 * sizeof(float));
  EXPECT_EQ(failed_, 0);
}

// Its first question finds no socket yet. The trainer is ready and stops before
// the second one.
TEST_F(TrainerHostTest, ATrainerThatStopsOnceItIsReadyIsEndedInTime) {
  Start();
  RunUntil([&] { return ready_ > 0; });
  server_->Shutdown();
  loop_.Advance(absl::Seconds(10));
  EXPECT_EQ(failed_, 1);
}

// The answer that makes it ready is on its way when the owner has no more use
// for it. A worker died of that once.
TEST_F(TrainerHostTest, ASilencedTrainerIsNotReady) {
  Start();
  // Its first answer is taken in by the second question.
  RunUntil([&] { return answers_.described() == 2; });
  host_->Silence();
  bool paused = false;
  host_->client().Pause([&](absl::StatusOr<v1::PauseReply>) { paused = true; });
  RunUntil([&] { return paused; });
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
