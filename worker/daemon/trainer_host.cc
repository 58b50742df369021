#include "worker/daemon/trainer_host.h"

#include <signal.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::worker {
namespace {

constexpr uint32_t kTrainerProtocolVersion = 1;
// A call's answer and the process's end come on two ways. The trainer's own
// words say more than an exit code, so the end waits this long for them.
constexpr absl::Duration kLastWordsWithin = absl::Milliseconds(100);
// A call fails before it is known that its process has ended, and how it ended
// says more than a broken connection.
constexpr absl::Duration kExitKnownWithin = absl::Milliseconds(500);

std::string ExitText(const runtime::ProcessExit& exit) {
  if (exit.signal == SIGKILL) {
    return "the trainer was killed (signal 9), as the kernel does when memory "
           "runs out; see its log, and skerryctl describe model for what the "
           "job needs";
  }
  if (exit.signal != 0) {
    return absl::StrCat("the trainer was ended by signal ", exit.signal);
  }
  return absl::StrCat("the trainer ended with code ", exit.code);
}

TrainerPhase PhaseFromProto(v1::TrainerPhase phase) {
  switch (phase) {
    case v1::TRAINER_PHASE_BUILDING:
      return TrainerPhase::kBuilding;
    case v1::TRAINER_PHASE_TRAINING:
      return TrainerPhase::kTraining;
    case v1::TRAINER_PHASE_COPYING:
      return TrainerPhase::kCopying;
    case v1::TRAINER_PHASE_JOINING:
      return TrainerPhase::kJoining;
    case v1::TRAINER_PHASE_EVALUATING:
      return TrainerPhase::kEvaluating;
    case v1::TRAINER_PHASE_GENERATING:
      return TrainerPhase::kGenerating;
    default:
      return TrainerPhase::kIdle;
  }
}

}  // namespace

TrainerHost::TrainerHost(TrainerHostOptions options, runtime::EventLoop& loop,
                         ReadyHandler on_ready, FailedHandler on_failed,
                         absl::AnyInvocable<void()> on_answer)
    : options_(std::move(options)),
      socket_path_(
          absl::StrCat(options_.run_directory, "/", options_.name, ".sock")),
      loop_(loop),
      on_ready_(std::move(on_ready)),
      on_failed_(std::move(on_failed)),
      on_answer_(std::move(on_answer)) {
  // Later, so that a failure never reaches an owner that is still making us.
  loop_.Post([this, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired() && !silent_) Start();
  });
}

TrainerHost::~TrainerHost() {
  client_.reset();
  process_.reset();
  unlink(socket_path_.c_str());
}

void TrainerHost::Start() {
  unlink(socket_path_.c_str());
  runtime::ProcessSpec spec;
  spec.argv = options_.command;
  spec.argv.push_back(absl::StrCat("--socket=", socket_path_));
  auto process =
      runtime::Process::Start(spec, loop_, [this](runtime::ProcessExit exit) {
        FailAfter(kLastWordsWithin, absl::UnavailableError(ExitText(exit)));
      });
  if (!process.ok()) {
    Fail(Annotate(process.status(), "cannot start the trainer"));
    return;
  }
  process_ = std::move(*process);
  client_ = std::make_unique<TrainerClient>(socket_path_, loop_);
  v1::DescribeRequest request = Request();
  client_->Describe(std::move(request),
                    [this](absl::StatusOr<v1::DescribeReply> reply) {
                      OnSized(std::move(reply));
                    });
}

void TrainerHost::AskProgress(Progressed done) {
  if (client_ == nullptr) {
    return std::move(done)(absl::UnavailableError("it is being started"));
  }
  client_->Progress([done = std::move(done)](
                        absl::StatusOr<v1::ProgressReply> reply) mutable {
    if (!reply.ok()) return std::move(done)(reply.status());
    std::move(done)(
        TrainerProgress{.phase = PhaseFromProto(reply->phase()),
                        .pieces = reply->pieces(),
                        .steps = reply->steps(),
                        .longest_step = absl::Seconds(reply->longest_step_s()),
                        .waits_for_group = reply->waits_for_group()});
  });
}

v1::DescribeRequest TrainerHost::Request() const {
  v1::DescribeRequest request;
  request.set_protocol_version(kTrainerProtocolVersion);
  *request.mutable_job() = options_.job;
  request.set_data_verified(options_.data_verified);
  return request;
}

void TrainerHost::OnSized(absl::StatusOr<v1::DescribeReply> reply) {
  if (silent_) return;
  if (!reply.ok()) return OnCallFailed(reply.status());
  on_answer_();
  if (reply->element_count() == 0) {
    Fail(absl::FailedPreconditionError("the trainer has an empty model"));
    return;
  }
  auto memory =
      runtime::SharedMemory::Create(absl::StrCat("/skerry-", options_.name),
                                    reply->element_count() * sizeof(float));
  if (!memory.ok()) {
    Fail(memory.status());
    return;
  }
  memory_ = std::move(*memory);
  v1::DescribeRequest request = Request();
  request.set_shared_memory(memory_->name());
  client_->Describe(std::move(request),
                    [this](absl::StatusOr<v1::DescribeReply> reply) {
                      if (silent_) return;
                      if (!reply.ok()) return OnCallFailed(reply.status());
                      // The trainer has it open.
                      memory_->Unlink();
                      std::move(on_ready_)(*reply);
                    });
}

void TrainerHost::OnCallFailed(const absl::Status& why) {
  FailAfter(absl::IsUnavailable(why) ? kExitKnownWithin : absl::ZeroDuration(),
            why);
}

void TrainerHost::FailAfter(absl::Duration wait, absl::Status status) {
  loop_.RunAt(loop_.Now() + wait, [this, status = std::move(status),
                                   alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired()) Fail(status);
  });
}

void TrainerHost::Fail(absl::Status status) {
  // The end of the process and the calls that fail with it are one failure.
  if (std::exchange(silent_, true)) return;
  std::move(on_failed_)(std::move(status));
}

}  // namespace skerry::worker
