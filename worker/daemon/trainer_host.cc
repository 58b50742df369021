#include "worker/daemon/trainer_host.h"

#include <signal.h>
#include <unistd.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::worker {
namespace {

constexpr uint32_t kTrainerProtocolVersion = 1;

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

}  // namespace

TrainerHost::TrainerHost(TrainerHostOptions options, runtime::EventLoop& loop,
                         ReadyHandler on_ready, FailedHandler on_failed)
    : options_(std::move(options)),
      socket_path_(
          absl::StrCat(options_.run_directory, "/", options_.name, ".sock")),
      loop_(loop),
      on_ready_(std::move(on_ready)),
      on_failed_(std::move(on_failed)) {
  // Later, so that a failure never reaches an owner that is still making us.
  loop_.Post([this, alive = std::weak_ptr<char>(alive_)] {
    if (!alive.expired()) Start();
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
        Fail(absl::UnavailableError(ExitText(exit)));
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

v1::DescribeRequest TrainerHost::Request() const {
  v1::DescribeRequest request;
  request.set_protocol_version(kTrainerProtocolVersion);
  *request.mutable_job() = options_.job;
  request.set_data_verified(options_.data_verified);
  return request;
}

void TrainerHost::OnSized(absl::StatusOr<v1::DescribeReply> reply) {
  if (!reply.ok()) {
    Fail(Annotate(reply.status(), "the trainer refused the job"));
    return;
  }
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
  client_->Describe(
      std::move(request), [this](absl::StatusOr<v1::DescribeReply> reply) {
        if (!reply.ok()) {
          Fail(Annotate(reply.status(), "the trainer refused shared memory"));
          return;
        }
        // The trainer has it open.
        memory_->Unlink();
        std::move(on_ready_)(*reply);
      });
}

void TrainerHost::Fail(absl::Status status) {
  // A call that fails because the process ended reports the same failure.
  if (std::exchange(failed_, true)) return;
  std::move(on_failed_)(std::move(status));
}

}  // namespace skerry::worker
