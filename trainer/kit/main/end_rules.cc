#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "trainer/kit/main/rules.h"

namespace skerry::trainer::kit {
namespace {

using Stub = TriedTrainer::Stub;
using Code = absl::StatusCode;

// Steps that take longer than anybody waits.
constexpr uint64_t kEndlessSteps = 100'000;
constexpr absl::Duration kExitWithin = absl::Seconds(30);
constexpr int kOrphanEndsWithinMs = 15'000;

v1::RunRequest EndlessRun(const Subject& subject) {
  v1::RunRequest request;
  request.add_ranges()->set_end(kEndlessSteps * subject.batch_samples);
  request.set_replica_batch_samples(subject.batch_samples);
  return request;
}

// Starts a Run that does not end by itself, and does `disturb` again and again
// until it has ended: the first time may be before the Run has begun. Returns
// how the Run ended.
absl::Status DisturbedRun(const Subject& subject, TriedTrainer& trainer,
                          grpc::ClientContext& context,
                          const std::function<void()>& disturb) {
  std::future<absl::Status> run = std::async(std::launch::async, [&] {
    v1::RunReply reply;
    return trainer.Call(&Stub::Run, EndlessRun(subject), reply, context);
  });
  while (run.wait_for(std::chrono::milliseconds(50)) !=
         std::future_status::ready) {
    disturb();
  }
  return run.get();
}

// Loads everything, as a worker does after a call that was stopped, and trains.
absl::Status GoesOn(const Subject& subject, TriedTrainer& trainer,
                    const std::vector<float>& initial) {
  std::copy(initial.begin(), initial.end(), trainer.state().begin());
  SKERRY_RETURN_IF_ERROR(trainer.Load({0, initial.size()}));
  SKERRY_ASSIGN_OR_RETURN(const auto loaded, trainer.Values());
  if (loaded != initial) return Broken("what was loaded is not what is there");
  return trainer.Run(0, subject.batch_samples, subject.batch_samples);
}

absl::Status Pause(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  SKERRY_ASSIGN_OR_RETURN(const auto initial, ready.trainer->Values());
  grpc::ClientContext context;
  const absl::Status ended =
      DisturbedRun(subject, *ready.trainer, context, [&] {
        v1::PauseReply reply;
        ready.trainer->Call(&Stub::Pause, v1::PauseRequest(), reply)
            .IgnoreError();
      });
  SKERRY_RETURN_IF_ERROR(Expect(ended, Code::kAborted, "a paused Run"));
  return GoesOn(subject, *ready.trainer, initial);
}

absl::Status Cancellation(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  SKERRY_ASSIGN_OR_RETURN(const auto initial, ready.trainer->Values());
  grpc::ClientContext context;
  const absl::Status ended = DisturbedRun(subject, *ready.trainer, context,
                                          [&] { context.TryCancel(); });
  SKERRY_RETURN_IF_ERROR(Expect(ended, Code::kCancelled, "a cancelled Run"));
  return GoesOn(subject, *ready.trainer, initial);
}

absl::Status ProgressDuringARun(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  absl::Status asked;
  uint64_t pieces = 0;
  int moved = 0;
  grpc::ClientContext context;
  const absl::Status ended =
      DisturbedRun(subject, *ready.trainer, context, [&] {
        v1::ProgressReply progress;
        asked.Update(ready.trainer->Call(&Stub::Progress, v1::ProgressRequest(),
                                         progress));
        if (progress.phase() == v1::TRAINER_PHASE_TRAINING) {
          moved += progress.pieces() > pieces ? 1 : 0;
          pieces = progress.pieces();
        }
        if (moved < 3 && asked.ok()) return;
        v1::PauseReply reply;
        ready.trainer->Call(&Stub::Pause, v1::PauseRequest(), reply)
            .IgnoreError();
      });
  if (absl::IsUnimplemented(asked)) return DoesNotApply("it has no Progress");
  SKERRY_RETURN_IF_ERROR(asked);
  return Expect(ended, Code::kAborted, "the Run");
}

absl::Status EndsWithCodeZero(TriedTrainer& trainer) {
  const auto exit = trainer.AwaitExit(kExitWithin);
  if (!exit.has_value()) {
    return Broken(absl::StrCat("it runs ", absl::ToInt64Seconds(kExitWithin),
                               " s after Exit"));
  }
  if (exit->signal == 0 && exit->code == 0) return absl::OkStatus();
  return Broken(absl::StrCat("it ended with code ", exit->code, ", signal ",
                             exit->signal));
}

absl::Status Exit(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  SKERRY_RETURN_IF_ERROR(
      ready.trainer->Run(0, subject.batch_samples, subject.batch_samples));
  v1::ExitReply reply;
  SKERRY_RETURN_IF_ERROR(
      ready.trainer->Call(&Stub::Exit, v1::ExitRequest(), reply));
  return EndsWithCodeZero(*ready.trainer);
}

absl::Status ExitDuringARun(const Subject& subject) {
  SKERRY_ASSIGN_OR_RETURN(const Ready ready, StartReady(subject));
  bool told = false;
  grpc::ClientContext context;
  const absl::Status ended =
      DisturbedRun(subject, *ready.trainer, context, [&] {
        v1::ExitReply reply;
        if (std::exchange(told, true)) return;
        ready.trainer->Call(&Stub::Exit, v1::ExitRequest(), reply)
            .IgnoreError();
      });
  if (ended.ok()) return Broken("the Run went on to its end");
  return EndsWithCodeZero(*ready.trainer);
}

// The shell is the parent of the trainer, and holds no descriptor of it.
absl::Status DeathOfTheParent(const Subject& subject) {
  int output[2];
  if (pipe(output) != 0) return Broken("there is no pipe");
  std::vector<std::string> command = {"/bin/sh", "-c", "\"$@\" & wait", "sh"};
  command.insert(command.end(), subject.command.begin(), subject.command.end());
  auto shell = TriedTrainer::Start(command, subject.job, output[1]);
  close(output[1]);
  absl::Status kept = shell.status();
  if (kept.ok()) kept = (*shell)->SetUp().status();
  if (kept.ok()) {
    (*shell)->Signal(SIGKILL);
    char piece[4096];
    ssize_t n = 1;
    pollfd ready = {.fd = output[0], .events = POLLIN, .revents = 0};
    while (n > 0 && poll(&ready, 1, kOrphanEndsWithinMs) == 1) {
      n = read(output[0], piece, sizeof(piece));
    }
    if (n > 0) kept = Broken("it lives on when its parent has been killed");
  }
  close(output[0]);
  return kept;
}

const Rule kRules[] = {
    {"Pause ends a Run with ABORTED, and it goes on", Pause},
    {"a call whose client is gone ends", Cancellation},
    {"Progress is answered during a Run", ProgressDuringARun},
    {"Exit ends with code 0", Exit},
    {"Exit ends a Run", ExitDuringARun},
    {"it ends with its parent", DeathOfTheParent}};

}  // namespace

std::span<const Rule> EndRules() { return kRules; }

}  // namespace skerry::trainer::kit
