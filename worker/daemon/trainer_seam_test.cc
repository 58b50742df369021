#include "worker/daemon/trainer_seam.h"

#include <grpcpp/grpcpp.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"
#include "proto/skerry/v1/trainer.grpc.pb.h"
#include "runtime/posix/posix_files.h"
#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"
#include "transport/directory.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::worker {
namespace {

constexpr uint64_t kElements = 8;

bool HasDeadline(const grpc::ServerContext& context) {
  return context.deadline() < decltype(context.deadline())::max();
}

// Answers as a trainer does, and keeps what it was asked.
class Trainer final : public v1::Trainer::Service {
 public:
  grpc::Status Describe(grpc::ServerContext*, const v1::DescribeRequest*,
                        v1::DescribeReply* reply) override {
    reply->set_element_count(kElements);
    return grpc::Status::OK;
  }
  grpc::Status OpenGroup(grpc::ServerContext*, const v1::OpenGroupRequest*,
                         v1::OpenGroupReply* reply) override {
    reply->set_bootstrap("here");
    return grpc::Status::OK;
  }
  grpc::Status Group(grpc::ServerContext* context,
                     const v1::GroupRequest* request,
                     v1::GroupReply*) override {
    const std::lock_guard lock(mutex_);
    group_ = *request;
    has_deadline_.push_back(HasDeadline(*context));
    return grpc::Status::OK;
  }
  grpc::Status Load(grpc::ServerContext* context,
                    const v1::LoadRequest* request, v1::LoadReply*) override {
    const std::lock_guard lock(mutex_);
    load_ = *request;
    has_deadline_.push_back(HasDeadline(*context));
    return grpc::Status::OK;
  }

  v1::GroupRequest group() {
    const std::lock_guard lock(mutex_);
    return group_;
  }
  v1::LoadRequest load() {
    const std::lock_guard lock(mutex_);
    return load_;
  }
  // Whether the calls of Group and Load had one, in order.
  std::vector<bool> has_deadline() {
    const std::lock_guard lock(mutex_);
    return has_deadline_;
  }

 private:
  std::mutex mutex_;
  v1::GroupRequest group_;
  v1::LoadRequest load_;
  std::vector<bool> has_deadline_;
};

class Listener final : public JobListener {
 public:
  void OnFolderGone() override {}
  void OnInnerKept() override {}
  void OnData(const absl::Status&) override {}
  void OnDataNews() override {}
  void OnTrainerReady(const ReadyTrainer&) override { is_ready = true; }
  void OnTrainerFailed(const absl::Status& why) override { FAIL() << why; }
  void OnTrainerAnswer() override {}
  void OnTrainerRestart(const absl::Status&) override {}
  absl::Duration GroupTimeout() const override { return group_timeout; }

  bool is_ready = false;
  absl::Duration group_timeout = absl::Seconds(1);
};

// A seam whose process sleeps, and the trainer that answers in its place.
class TrainerSeamTest : public testing::Test {
 protected:
  TrainerSeamTest() {
    // A socket's path is short.
    std::string folder = "/tmp/skerry-seam-XXXXXX";
    folder_ = mkdtemp(folder.data());
    // Shared memory is named so, and other tests see the name.
    const std::string name = std::filesystem::path(folder_).filename();
    inner_.emplace(
        folder_, Sequence(), files_, executor_, loop_,
        [](const InnerSource&, const std::string&) {
          return absl::UnimplementedError("nobody asks");
        },
        [] {});
    seam_ = std::make_unique<TrainerSeam>(
        TrainerSeamOptions{
            .island = {JobId(3), peers_, "north", ""},
            .spec = job::SmallJob("job", 100),
            .trainer_command = {"/bin/sh", "-c", "exec sleep 600"},
            .attach_command = {},
            .programs = programs_,
            .folder = folder_,
            .run_directory = folder_,
            .name = name},
        answers_, *inner_, listener_);
    seam_->Start({.number = 1, .data_folder = "/data"});
    loop_.RunUntilIdle();
    grpc::ServerBuilder builder;
    transport::AddPlaintextPort(
        absl::StrCat("unix:", folder_, "/", name, "-1.sock"), builder);
    builder.RegisterService(&trainer_);
    server_ = builder.BuildAndStart();
    RunUntil([this] { return listener_.is_ready; });
  }
  ~TrainerSeamTest() override {
    seam_.reset();
    server_->Shutdown();
    loop_.RunUntilIdle();
    std::filesystem::remove_all(folder_);
  }

  template <typename Good>
  void RunUntil(Good good) {
    while (!good() && !HasFailure()) {
      if (loop_.RunUntilIdle() == 0) std::this_thread::yield();
    }
  }
  Done<absl::Status> Answered() {
    answered_ = false;
    return [this](Instant, const absl::Status& status) {
      EXPECT_TRUE(status.ok()) << status;
      answered_ = true;
    };
  }
  // Joins a group of two as its head, and returns when the trainer has.
  void JoinGroup() {
    seam_->SetHead("head0");
    seam_->JoinGroup({Life(5), 0, 2, {{{0, 4}, {4, kElements}}}}, Answered());
    seam_->OnMeet({Life(5), 1, "north"}, [](const auto&) {});
    RunUntil([this] { return answered_; });
  }
  void Load() {
    seam_->Load({0, 4}, Answered());
    RunUntil([this] { return answered_; });
  }

  runtime::ManualLoop loop_;
  runtime::InlineExecutor executor_;
  runtime::PosixFiles files_;
  std::string folder_;
  transport::Directory directory_;
  PeerClient peers_{loop_, directory_, transport::Credentials::Plaintext()};
  Programs programs_{{}, files_, loop_, executor_};
  SeatAnswers answers_{loop_, [] {}};
  Listener listener_;
  std::optional<InnerStore> inner_;
  Trainer trainer_;
  std::unique_ptr<TrainerSeam> seam_;
  std::unique_ptr<grpc::Server> server_;
  bool answered_ = false;
};

TEST_F(TrainerSeamTest, AGroupHasTheTimeThatTheWatchGivesIt) {
  for (const absl::Duration timeout :
       {absl::Seconds(40), absl::Milliseconds(2500), absl::Minutes(20)}) {
    listener_.group_timeout = timeout;
    JoinGroup();
    EXPECT_EQ(trainer_.group().bootstrap(), "here");
    EXPECT_EQ(trainer_.group().size(), 2u);
    EXPECT_EQ(absl::Milliseconds(trainer_.group().timeout_ms()), timeout);
  }
}

// What the others of the group send in a Load takes at most the group's time.
// The watch ends a trainer that stands still otherwise.
TEST_F(TrainerSeamTest, GroupAndLoadHaveNoOtherDeadline) {
  JoinGroup();
  Load();
  EXPECT_EQ(trainer_.load().owners_size(), 2);
  EXPECT_EQ(trainer_.has_deadline(), std::vector<bool>(2, false));
}

}  // namespace
}  // namespace skerry::worker
