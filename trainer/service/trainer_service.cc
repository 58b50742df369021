#include "trainer/service/trainer_service.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/release.h"
#include "base/status.h"
#include "runtime/log.h"
#include "runtime/posix/stopwatch.h"
#include "trainer/convert/messages.h"
#include "trainer/service/posix_inner_file.h"

namespace skerry::trainer {
namespace {

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      std::string(status.message()));
}

void LogCall(v1::TrainerPhase phase, double seconds,
             const absl::Status& status) {
  const std::string name = v1::TrainerPhase_Name(phase);
  runtime::Log(runtime::Severity::kDebug, "trainer.call",
               {{"phase", absl::AsciiStrToLower(
                              absl::StripPrefix(name, "TRAINER_PHASE_"))},
                {"ms", seconds * 1e3},
                {"cause", status}});
}

}  // namespace

// Leaves only when the answer is out.
class TrainerService::ExitReactor final : public grpc::ServerUnaryReactor {
 public:
  explicit ExitReactor(const std::function<void()>& exit) : exit_(exit) {}
  void OnDone() override { exit_(); }

 private:
  const std::function<void()>& exit_;
};

TrainerService::TrainerService(JobTrainerMaker make, runtime::Executor& compute,
                               std::function<void()> exit)
    : make_(std::move(make)), compute_(compute), exit_(std::move(exit)) {}

TrainerService::~TrainerService() = default;

grpc::ServerUnaryReactor* TrainerService::Serve(
    grpc::CallbackServerContext* context, v1::TrainerPhase phase, Scope scope,
    Work work) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const uint64_t arrived = stops_.load();
  const int group_calls = scope == Scope::kGroup ? 1 : 0;
  {
    const runtime::MutexLock lock(mutex_);
    group_calls_ += group_calls;
  }
  compute_.Run([this, context, reactor, phase, arrived, group_calls,
                work = std::move(work)]() mutable {
    progress_.Enter(phase);
    const runtime::Stopwatch stopwatch;
    absl::Status status = work([&] {
      progress_.OnPiece();
      return stops_.load() != arrived || context->IsCancelled();
    });
    progress_.Enter(v1::TRAINER_PHASE_IDLE);
    LogCall(phase, stopwatch.Seconds(), status);
    // A member that does not come ends the group, and not this trainer.
    if (absl::IsDeadlineExceeded(status)) {
      status = absl::AbortedError(status.message());
    }
    if (!status.ok() && group_calls > 0) AbortGroup();
    {
      const runtime::MutexLock lock(mutex_);
      group_calls_ -= group_calls;
    }
    reactor->Finish(ToGrpc(status));
  });
  return reactor;
}

grpc::ServerUnaryReactor* TrainerService::Describe(
    grpc::CallbackServerContext* context, const v1::DescribeRequest* request,
    v1::DescribeReply* reply) {
  return Serve(context, v1::TRAINER_PHASE_BUILDING, Scope::kLocal,
               [this, request, reply](StopRequested stop) {
                 return DescribeJob(*request, stop, *reply);
               });
}

grpc::ServerUnaryReactor* TrainerService::Run(
    grpc::CallbackServerContext* context, const v1::RunRequest* request,
    v1::RunReply* reply) {
  return Serve(
      context, v1::TRAINER_PHASE_TRAINING, Scope::kGroup,
      [this, request, reply](StopRequested stop) {
        SKERRY_RETURN_IF_ERROR(CheckReady(/*memory=*/false));
        const runtime::Stopwatch stopwatch;
        SKERRY_ASSIGN_OR_RETURN(
            const RunResult result,
            job_trainer_.trainer->Run(RunRequestFromProto(*request), stop));
        RunResultToProto(result, *reply);
        reply->set_compute_s(stopwatch.Seconds());
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* TrainerService::Snapshot(
    grpc::CallbackServerContext* context, const v1::SnapshotRequest* request,
    v1::SnapshotReply* reply) {
  return Serve(context, v1::TRAINER_PHASE_COPYING, Scope::kLocal,
               [this, request](StopRequested) {
                 SKERRY_RETURN_IF_ERROR(CheckReady(/*memory=*/true));
                 return job_trainer_.trainer->Snapshot(
                     ElementRangesFromProto(request->ranges()), State());
               });
}

grpc::ServerUnaryReactor* TrainerService::Load(
    grpc::CallbackServerContext* context, const v1::LoadRequest* request,
    v1::LoadReply* reply) {
  return Serve(context, v1::TRAINER_PHASE_COPYING, Scope::kGroup,
               [this, request](StopRequested) { return LoadState(*request); });
}

grpc::ServerUnaryReactor* TrainerService::OpenGroup(
    grpc::CallbackServerContext* context, const v1::OpenGroupRequest* request,
    v1::OpenGroupReply* reply) {
  return Serve(context, v1::TRAINER_PHASE_JOINING, Scope::kLocal,
               [this, request, reply](StopRequested) {
                 return MakePlace(*request, *reply);
               });
}

grpc::ServerUnaryReactor* TrainerService::Group(
    grpc::CallbackServerContext* context, const v1::GroupRequest* request,
    v1::GroupReply* reply) {
  return Serve(context, v1::TRAINER_PHASE_JOINING, Scope::kGroup,
               [this, request](StopRequested) { return JoinGroup(*request); });
}

grpc::ServerUnaryReactor* TrainerService::Evaluate(
    grpc::CallbackServerContext* context, const v1::EvaluateRequest* request,
    v1::EvaluateReply* reply) {
  return Serve(context, v1::TRAINER_PHASE_EVALUATING, Scope::kLocal,
               [this, request, reply](StopRequested stop) {
                 SKERRY_RETURN_IF_ERROR(CheckReady(/*memory=*/false));
                 SKERRY_ASSIGN_OR_RETURN(const EvaluateResult result,
                                         job_trainer_.trainer->Evaluate(
                                             request->samples_max(), stop));
                 reply->set_loss(result.loss);
                 reply->set_samples(result.samples);
                 return absl::OkStatus();
               });
}

grpc::ServerUnaryReactor* TrainerService::Generate(
    grpc::CallbackServerContext* context, const v1::GenerateRequest* request,
    v1::GenerateReply* reply) {
  return Serve(context, v1::TRAINER_PHASE_GENERATING, Scope::kLocal,
               [this, request, reply](StopRequested stop) {
                 SKERRY_RETURN_IF_ERROR(CheckReady(/*memory=*/false));
                 SKERRY_ASSIGN_OR_RETURN(
                     *reply->mutable_text(),
                     job_trainer_.trainer->Generate(
                         GenerateRequestFromProto(*request), stop));
                 return absl::OkStatus();
               });
}

grpc::ServerUnaryReactor* TrainerService::SaveInner(
    grpc::CallbackServerContext* context, const v1::SaveInnerRequest* request,
    v1::SaveInnerReply* reply) {
  return Serve(context, v1::TRAINER_PHASE_COPYING, Scope::kLocal,
               [this, request, reply](StopRequested) {
                 return SaveInnerState(*request, *reply);
               });
}

grpc::ServerUnaryReactor* TrainerService::LoadInner(
    grpc::CallbackServerContext* context, const v1::LoadInnerRequest* request,
    v1::LoadInnerReply* reply) {
  return Serve(context, v1::TRAINER_PHASE_COPYING, Scope::kLocal,
               [this, request, reply](StopRequested) {
                 return LoadInnerState(*request, *reply);
               });
}

grpc::ServerUnaryReactor* TrainerService::Pause(
    grpc::CallbackServerContext* context, const v1::PauseRequest* request,
    v1::PauseReply* reply) {
  StopCalls();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* TrainerService::Progress(
    grpc::CallbackServerContext* context, const v1::ProgressRequest* request,
    v1::ProgressReply* reply) {
  *reply = progress_.Read();
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* TrainerService::Exit(
    grpc::CallbackServerContext* context, const v1::ExitRequest* request,
    v1::ExitReply* reply) {
  StopCalls();
  grpc::ServerUnaryReactor* reactor = nullptr;
  {
    const runtime::MutexLock lock(mutex_);
    if (exit_reactor_ == nullptr) {
      exit_reactor_ = std::make_unique<ExitReactor>(exit_);
      reactor = exit_reactor_.get();
    }
  }
  if (reactor == nullptr) reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

void TrainerService::StopCalls() {
  ++stops_;
  {
    const runtime::MutexLock lock(mutex_);
    // A trainer that does nothing with its group keeps it.
    if (group_calls_ == 0) return;
  }
  AbortGroup();
}

void TrainerService::AbortGroup() {
  std::shared_ptr<transport::Group> group;
  {
    const runtime::MutexLock lock(mutex_);
    group = group_;
  }
  if (group != nullptr) group->Abort();
}

absl::Status TrainerService::DescribeJob(const v1::DescribeRequest& request,
                                         StopRequested stop,
                                         v1::DescribeReply& reply) {
  if (request.protocol_version() != kProtocolVersion) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the worker speaks trainer protocol ", request.protocol_version(),
        ", this trainer ", kProtocolVersion, "; install one release"));
  }
  std::string job = request.job().SerializeAsString();
  if (job_trainer_.trainer == nullptr) {
    const ShardCheck check =
        request.data_verified() ? ShardCheck::kHeader : ShardCheck::kRead;
    SKERRY_ASSIGN_OR_RETURN(job_trainer_, make_(request.job(), check, stop));
    job_trainer_.trainer->set_on_step([this] { progress_.OnStep(); });
    job_ = std::move(job);
  } else if (job != job_) {
    return absl::InvalidArgumentError(
        "this trainer serves another job; start a new one");
  }
  if (!request.shared_memory().empty()) {
    SKERRY_RETURN_IF_ERROR(OpenMemory(request.shared_memory()));
  }
  DescriptionToProto(job_trainer_.trainer->description(), reply);
  return absl::OkStatus();
}

absl::Status TrainerService::OpenMemory(const std::string& name) {
  if (memory_ != nullptr && memory_->name() == name) return absl::OkStatus();
  SKERRY_ASSIGN_OR_RETURN(auto memory, runtime::SharedMemory::Open(name));
  const uint64_t needed =
      job_trainer_.trainer->description().element_count * sizeof(float);
  if (memory->bytes().size() < needed) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the shared memory ", name, " has ", memory->bytes().size(),
        " bytes; the model needs ", needed));
  }
  memory_ = std::move(memory);
  const absl::Status used =
      job_trainer_.trainer->UseMemory(absl::StrCat("/dev/shm", name), State());
  if (!used.ok()) memory_.reset();
  return used;
}

absl::Status TrainerService::CheckReady(bool memory) const {
  if (job_trainer_.trainer == nullptr) {
    return absl::FailedPreconditionError("Describe has not been called");
  }
  if (memory && memory_ == nullptr) {
    return absl::FailedPreconditionError(
        "Describe has not named the shared memory");
  }
  return absl::OkStatus();
}

std::span<float> TrainerService::State() {
  return {reinterpret_cast<float*>(memory_->bytes().data()),
          job_trainer_.trainer->description().element_count};
}

absl::Status TrainerService::LoadState(const v1::LoadRequest& request) {
  SKERRY_RETURN_IF_ERROR(CheckReady(/*memory=*/true));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<RankRange> owners,
                          OwnersFromProto(request.owners()));
  return job_trainer_.trainer->Load(ElementRangesFromProto(request.ranges()),
                                    owners, State());
}

absl::Status TrainerService::SaveInnerState(const v1::SaveInnerRequest& request,
                                            v1::SaveInnerReply& reply) {
  SKERRY_RETURN_IF_ERROR(CheckReady(/*memory=*/false));
  PosixInnerFile file(request.path(), [this] { progress_.OnPiece(); });
  SKERRY_ASSIGN_OR_RETURN(
      const uint64_t bytes,
      job_trainer_.trainer->SaveInner({.layout_hash = request.layout_hash(),
                                       .sequence = request.sequence()},
                                      file));
  reply.set_bytes(bytes);
  return absl::OkStatus();
}

absl::Status TrainerService::LoadInnerState(const v1::LoadInnerRequest& request,
                                            v1::LoadInnerReply& reply) {
  SKERRY_RETURN_IF_ERROR(CheckReady(/*memory=*/false));
  PosixInnerFile file(request.path(), [this] { progress_.OnPiece(); });
  SKERRY_ASSIGN_OR_RETURN(
      const InnerProgress loaded,
      job_trainer_.trainer->LoadInner(request.layout_hash(), file));
  reply.set_sequence(loaded.sequence);
  reply.set_steps(loaded.steps);
  return absl::OkStatus();
}

absl::Status TrainerService::CheckGroups() const {
  if (job_trainer_.trainer->description().capabilities.groups) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      "this trainer computes in no group; give each worker an island of its "
      "own");
}

absl::Status TrainerService::MakePlace(const v1::OpenGroupRequest& request,
                                       v1::OpenGroupReply& reply) {
  SKERRY_RETURN_IF_ERROR(CheckReady(/*memory=*/false));
  SKERRY_RETURN_IF_ERROR(CheckGroups());
  SKERRY_ASSIGN_OR_RETURN(*reply.mutable_bootstrap(),
                          opener_.MakePlace(request.address()));
  return absl::OkStatus();
}

absl::Status TrainerService::JoinGroup(const v1::GroupRequest& request) {
  SKERRY_RETURN_IF_ERROR(CheckReady(/*memory=*/false));
  SKERRY_ASSIGN_OR_RETURN(const GroupPlace place, GroupPlaceFromProto(request));
  std::shared_ptr<transport::Group> group;
  if (place.size > 1) {
    // Before others wait for it in the group.
    SKERRY_RETURN_IF_ERROR(CheckGroups());
    SKERRY_ASSIGN_OR_RETURN(group, opener_.Join(place));
  }
  // Before anything is waited for, so that Pause can end the wait. The former
  // group ends when the trainer has let go of it.
  std::shared_ptr<transport::Group> former = group;
  {
    const runtime::MutexLock lock(mutex_);
    group_.swap(former);
  }
  if (former != nullptr) former->Abort();
  std::unique_ptr<WatchedCollective> collective;
  if (group != nullptr) {
    collective = std::make_unique<WatchedCollective>(group, progress_);
  }
  const absl::Status joined = job_trainer_.trainer->JoinGroup(collective.get());
  collective_ = std::move(collective);
  return joined;
}

}  // namespace skerry::trainer
