// The trainer as a worker sees it: a program behind a Unix socket.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/release.h"
#include "base/sha256.h"
#include "data/prepare/testing/prepare.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "gtest/gtest.h"
#include "proto/skerry/v1/trainer.grpc.pb.h"
#include "runtime/posix/mapped_file.h"
#include "runtime/posix/posix_files.h"
#include "runtime/posix/posix_loop.h"
#include "runtime/posix/process.h"
#include "runtime/posix/shared_memory.h"
#include "trainer/testing/in_process_trainer.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::trainer {
namespace {

using ::testing::HasSubstr;

std::string Unique(const std::string& what) {
  const std::string folder = ::testing::TempDir();
  return absl::StrCat(what, "-", getpid(), "-",
                      Hash64Of(std::span<const char>(folder)));
}

// One running trainer.
class TrainerProcess {
 public:
  TrainerProcess(const std::string& name, std::vector<std::string> flags)
      : socket_(absl::StrCat("/tmp/", Unique(name), ".sock")), loop_("test") {
    runtime::ProcessSpec spec;
    spec.argv = {"trainer/main/skerry-trainer"};
    for (std::string& flag : flags) spec.argv.push_back(std::move(flag));
    if (flags.empty()) spec.argv.push_back("--socket=" + socket_);
    auto process =
        runtime::Process::Start(spec, loop_, [this](runtime::ProcessExit exit) {
          const std::lock_guard lock(mutex_);
          exit_ = exit;
          ended_.notify_all();
        });
    EXPECT_TRUE(process.ok()) << process.status();
    process_ = *std::move(process);
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 20);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
    stub_ = v1::Trainer::NewStub(
        transport::PlaintextChannel("unix:" + socket_, arguments));
  }
  ~TrainerProcess() {
    loop_.Stop();
    process_.reset();
    unlink(socket_.c_str());
  }

  template <typename Request, typename Reply>
  grpc::Status Call(grpc::Status (v1::Trainer::Stub::*method)(
                        grpc::ClientContext*, const Request&, Reply*),
                    const Request& request, Reply* reply) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    return ((*stub_).*method)(&context, request, reply);
  }
  runtime::ProcessExit WaitForExit() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return exit_.has_value(); });
    return *exit_;
  }
  void Signal(int signal) { process_->Signal(signal); }

 private:
  const std::string socket_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::optional<runtime::ProcessExit> exit_;  // guarded by mutex_
  runtime::PosixLoop loop_;
  std::unique_ptr<runtime::Process> process_;
  std::unique_ptr<v1::Trainer::Stub> stub_;
};

using Stub = v1::Trainer::Stub;

class TrainerProcessTest : public ::testing::Test {
 protected:
  TrainerProcessTest() : folder_(::testing::TempDir() + Unique("/data")) {
    const std::string text = MadeUpText(1, 20000);
    EXPECT_TRUE(files_.MakeDirectory(folder_).ok());
    EXPECT_TRUE(
        files_
            .WriteDurably(folder_ + "/text.txt", std::as_bytes(std::span(text)))
            .ok());
    std::ostringstream err;
    EXPECT_TRUE(data::testing::Prepare({.inputs = {folder_ + "/text.txt"},
                                        .output_directory = folder_},
                                       {}, files_, err)
                    .ok());
    job_.set_name("test");
    job_.mutable_model()->set_config_json(SmallTrainingOptions().config_json);
    job_.mutable_data()->set_path(folder_);
    job_.mutable_data()->set_manifest_sha256(
        Sha256Hex(runtime::MappedFile::Open(folder_ + "/manifest.json")
                      .value()
                      ->bytes()));
    job_.mutable_training()->set_samples(800);
    job_.mutable_training()->set_batch_samples(16);
    job_.mutable_training()->set_learning_rate(3e-3);
    job_.mutable_outer()->set_method(v1::JobSpec::OUTER_METHOD_LOCAL_SGD);
  }

  // Describes twice, as a worker does, and returns the second reply.
  v1::DescribeReply Set(TrainerProcess& trainer, const std::string& name) {
    v1::DescribeRequest request;
    request.set_protocol_version(kProtocolVersion);
    *request.mutable_job() = job_;
    v1::DescribeReply reply;
    grpc::Status status = trainer.Call(&Stub::Describe, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    memories_.push_back(
        runtime::SharedMemory::Create("/" + Unique(name),
                                      reply.element_count() * sizeof(float))
            .value());
    request.set_shared_memory(memories_.back()->name());
    status = trainer.Call(&Stub::Describe, request, &reply);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return reply;
  }
  std::span<float> State(size_t index = 0) {
    const std::span<std::byte> bytes = memories_[index]->bytes();
    return {reinterpret_cast<float*>(bytes.data()),
            bytes.size() / sizeof(float)};
  }
  static v1::RunRequest Samples(uint64_t begin, uint64_t end) {
    v1::RunRequest request;
    request.set_replica_batch_samples(16);
    request.add_ranges()->set_begin(begin);
    request.mutable_ranges(0)->set_end(end);
    return request;
  }
  template <typename Request>
  static Request Range(uint64_t begin, uint64_t end) {
    Request request;
    request.add_ranges()->set_begin(begin);
    request.mutable_ranges(0)->set_end(end);
    return request;
  }
  std::vector<float> Snapshot(TrainerProcess& trainer, size_t index = 0) {
    v1::SnapshotReply reply;
    const uint64_t count = State(index).size();
    EXPECT_TRUE(
        trainer
            .Call(&Stub::Snapshot, Range<v1::SnapshotRequest>(0, count), &reply)
            .ok());
    return {State(index).begin(), State(index).end()};
  }

  const std::string folder_;
  runtime::PosixFiles files_;
  v1::JobSpec job_;
  std::vector<std::unique_ptr<runtime::SharedMemory>> memories_;
};

TEST_F(TrainerProcessTest, TrainsALlamaJob) {
  job_.mutable_model()->set_config_json(SmallLlamaOptions().config_json);
  TrainerProcess trainer("llama", {});
  const v1::DescribeReply described = Set(trainer, "llama");
  EXPECT_EQ(Hash64Of(std::span<const float>(Snapshot(trainer))),
            described.initial_hash());
  v1::RunReply run;
  ASSERT_TRUE(trainer.Call(&Stub::Run, Samples(0, 320), &run).ok());
  EXPECT_EQ(run.inner_steps(), 20u);
  EXPECT_LT(run.loss(), std::log(256.0));
}

TEST_F(TrainerProcessTest, TrainsGivesAndTakesValuesAndExits) {
  TrainerProcess trainer("one", {});
  const v1::DescribeReply described = Set(trainer, "one");
  const std::vector<float> initial = Snapshot(trainer);
  EXPECT_EQ(Hash64Of(std::span<const float>(initial)),
            described.initial_hash());

  v1::RunReply run;
  ASSERT_TRUE(trainer.Call(&Stub::Run, Samples(0, 320), &run).ok());
  EXPECT_EQ(run.samples(), 320u);
  EXPECT_EQ(run.inner_steps(), 20u);
  EXPECT_LT(run.loss(), std::log(256.0));
  EXPECT_GT(run.compute_s(), 0);
  EXPECT_NE(Snapshot(trainer), initial);

  v1::ProgressReply progress;
  ASSERT_TRUE(
      trainer.Call(&Stub::Progress, v1::ProgressRequest(), &progress).ok());
  EXPECT_EQ(progress.phase(), v1::TRAINER_PHASE_IDLE);
  EXPECT_EQ(progress.steps(), 20u);
  EXPECT_GT(progress.longest_step_s(), 0);
  EXPECT_LE(progress.longest_step_s(), run.compute_s());

  v1::EvaluateReply trained;
  ASSERT_TRUE(
      trainer.Call(&Stub::Evaluate, v1::EvaluateRequest(), &trained).ok());
  EXPECT_LT(trained.loss(), 4.5);

  std::copy(initial.begin(), initial.end(), State().begin());
  v1::LoadReply loaded;
  ASSERT_TRUE(
      trainer
          .Call(&Stub::Load, Range<v1::LoadRequest>(0, initial.size()), &loaded)
          .ok());
  EXPECT_EQ(Snapshot(trainer), initial);

  v1::GenerateRequest prompt;
  prompt.set_prompt("the");
  prompt.set_tokens(10);
  v1::GenerateReply generated;
  ASSERT_TRUE(trainer.Call(&Stub::Generate, prompt, &generated).ok());
  EXPECT_EQ(generated.text().size(), 10u);

  v1::ExitReply exit;
  ASSERT_TRUE(trainer.Call(&Stub::Exit, v1::ExitRequest(), &exit).ok());
  EXPECT_EQ(trainer.WaitForExit().code, 0);
}

TEST_F(TrainerProcessTest, TellsItsProgressDuringACall) {
  TrainerProcess trainer("progress", {});
  Set(trainer, "progress");
  std::thread run([&] {
    v1::RunReply reply;
    const grpc::Status status =
        trainer.Call(&Stub::Run, Samples(0, 1'000'000), &reply);
    EXPECT_EQ(status.error_code(), grpc::ABORTED);
  });
  uint64_t pieces = 0;
  for (int moved = 0; moved < 3;) {
    v1::ProgressReply progress;
    ASSERT_TRUE(
        trainer.Call(&Stub::Progress, v1::ProgressRequest(), &progress).ok());
    if (progress.phase() != v1::TRAINER_PHASE_TRAINING) continue;
    moved += progress.pieces() > pieces ? 1 : 0;
    pieces = progress.pieces();
  }
  v1::PauseReply paused;
  EXPECT_TRUE(trainer.Call(&Stub::Pause, v1::PauseRequest(), &paused).ok());
  run.join();
}

// By the host at which their trainers reach each other; none: they share
// memory.
class IslandTest : public TrainerProcessTest,
                   public ::testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Hosts, IslandTest, ::testing::Values("", "127.0.0.1"));

TEST_P(IslandTest, TwoTrainersOfAnIslandStayEqual) {
  TrainerProcess one("left", {});
  TrainerProcess two("right", {});
  TrainerProcess* trainers[] = {&one, &two};
  Set(one, "left");
  Set(two, "right");
  v1::OpenGroupRequest open;
  open.set_size(2);
  open.set_address(GetParam());
  v1::OpenGroupReply place;
  ASSERT_TRUE(one.Call(&Stub::OpenGroup, open, &place).ok());
  std::vector<v1::RunReply> runs(2);
  const auto train = [&](uint32_t rank) {
    v1::GroupRequest join;
    join.set_bootstrap(place.bootstrap());
    join.set_address(GetParam());
    join.set_rank(rank);
    join.set_size(2);
    v1::GroupReply joined;
    ASSERT_TRUE(trainers[rank]->Call(&Stub::Group, join, &joined).ok());
    ASSERT_TRUE(
        trainers[rank]->Call(&Stub::Run, Samples(0, 100), &runs[rank]).ok());
  };
  std::thread other([&] { train(1); });
  train(0);
  other.join();
  EXPECT_EQ(runs[0].loss(), runs[1].loss());
  EXPECT_EQ(Snapshot(one, 0), Snapshot(two, 1));

  two.Signal(SIGKILL);
  EXPECT_EQ(two.WaitForExit().signal, SIGKILL);
  grpc::Status status;
  std::atomic<bool> ended{false};
  std::thread run([&] {
    v1::RunReply reply;
    status = one.Call(&Stub::Run, Samples(100, 200), &reply);
    ended = true;
  });
  // Over TCP the group ends by itself.
  if (GetParam().empty()) {
    v1::ProgressReply progress;
    while (!progress.waits_for_group()) {
      ASSERT_TRUE(
          one.Call(&Stub::Progress, v1::ProgressRequest(), &progress).ok());
    }
    EXPECT_EQ(progress.phase(), v1::TRAINER_PHASE_TRAINING);
    // A pause that comes before the run does not end it.
    while (!ended) {
      v1::PauseReply paused;
      EXPECT_TRUE(one.Call(&Stub::Pause, v1::PauseRequest(), &paused).ok());
    }
  }
  run.join();
  EXPECT_EQ(status.error_code(), grpc::ABORTED) << status.error_message();

  v1::GroupRequest alone;
  alone.set_size(1);
  v1::GroupReply joined;
  ASSERT_TRUE(one.Call(&Stub::Group, alone, &joined).ok());
  v1::RunReply reply;
  EXPECT_TRUE(one.Call(&Stub::Run, Samples(100, 116), &reply).ok());
}

TEST_F(TrainerProcessTest, AGroupThatCannotBeGetsOneClearLine) {
  TrainerProcess trainer("alone", {});
  Set(trainer, "alone");
  v1::OpenGroupRequest open;
  open.set_size(2);
  open.set_address("127.0.0.1:7443");
  v1::OpenGroupReply place;
  grpc::Status status = trainer.Call(&Stub::OpenGroup, open, &place);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("without a port"));

  open.set_address("127.0.0.1");
  ASSERT_TRUE(trainer.Call(&Stub::OpenGroup, open, &place).ok());
  v1::GroupRequest join;
  join.set_size(2);
  join.set_bootstrap("no place");
  v1::GroupReply joined;
  status = trainer.Call(&Stub::Group, join, &joined);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  // A second OpenGroup has taken its place.
  join.set_bootstrap(place.bootstrap());
  ASSERT_TRUE(trainer.Call(&Stub::OpenGroup, open, &place).ok());
  status = trainer.Call(&Stub::Group, join, &joined);
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);
}

TEST_F(TrainerProcessTest, WrongRequestsGetOneClearLine) {
  TrainerProcess trainer("wrong", {});
  v1::RunReply run;
  grpc::Status status = trainer.Call(&Stub::Run, Samples(0, 16), &run);
  EXPECT_EQ(status.error_code(), grpc::FAILED_PRECONDITION);

  v1::DescribeRequest request;
  v1::DescribeReply reply;
  status = trainer.Call(&Stub::Describe, request, &reply);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_THAT(status.error_message(), HasSubstr("protocol 0"));

  request.set_protocol_version(kProtocolVersion);
  *request.mutable_job() = job_;
  request.mutable_job()->mutable_data()->set_manifest_sha256(
      std::string(64, '0'));
  status = trainer.Call(&Stub::Describe, request, &reply);
  EXPECT_EQ(status.error_code(), grpc::DATA_LOSS);
  request.mutable_job()->mutable_data()->set_path("/nowhere");
  status = trainer.Call(&Stub::Describe, request, &reply);
  EXPECT_EQ(status.error_code(), grpc::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("/nowhere/manifest.json"));

  Set(trainer, "wrong");
  request.mutable_job()->set_name("other");
  status = trainer.Call(&Stub::Describe, request, &reply);
  EXPECT_THAT(status.error_message(), HasSubstr("another job"));
  status = trainer.Call(&Stub::Run, Samples(5, 5), &run);
  EXPECT_EQ(status.error_code(), grpc::INVALID_ARGUMENT);
  EXPECT_TRUE(trainer.Call(&Stub::Run, Samples(0, 16), &run).ok());
}

TEST(TrainerFlagsTest, BadFlagsEndWithCodeTwo) {
  const std::vector<std::vector<std::string>> mistakes = {
      {"--threads=2"},
      {"--socket=/tmp/x", "--threads=0"},
      {"--socket=/tmp/x", "--nonsense"},
      {"--socket=/tmp/" + std::string(120, 'x')}};
  for (const std::vector<std::string>& flags : mistakes) {
    TrainerProcess trainer("flags", flags);
    EXPECT_EQ(trainer.WaitForExit().code, 2) << flags.back();
  }
}

TEST(TrainerFlagsTest, MissingParentEndsItAtOnce) {
  TrainerProcess trainer("orphan", {"--socket=/tmp/x", "--parent-pid=1"});
  EXPECT_EQ(trainer.WaitForExit().code, 1);
}

// The shell forks the trainer and asks for no death signal.
TEST(TrainerFlagsTest, TrainerEndsWhenItsParentIsKilled) {
  int output[2];
  ASSERT_EQ(pipe(output), 0);
  const std::string socket = absl::StrCat("/tmp/", Unique("child"), ".sock");
  runtime::PosixLoop loop("test");
  runtime::ProcessSpec spec;
  spec.argv = {
      "/bin/sh", "-c",
      absl::StrCat("trainer/main/skerry-trainer --socket=", socket, " & wait")};
  spec.output_fd = output[1];
  auto shell = runtime::Process::Start(spec, loop, [](runtime::ProcessExit) {});
  ASSERT_TRUE(shell.ok()) << shell.status();
  close(output[1]);
  std::string text;
  char byte;
  while (text.find("trainer.listening") == std::string::npos &&
         read(output[0], &byte, 1) == 1) {
    text += byte;
  }
  (*shell)->Signal(SIGKILL);
  // The end of the pipe: whoever could write to it has ended.
  while (read(output[0], &byte, 1) == 1) text += byte;
  EXPECT_THAT(text, HasSubstr("the worker is gone"));
  close(output[0]);
  unlink(socket.c_str());
  loop.Stop();
}

}  // namespace
}  // namespace skerry::trainer
