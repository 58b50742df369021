// trainer/service/trainer_service.h
//
// The trainer seam as RPCs for one worker on the same machine.
#ifndef SKERRY_TRAINER_SERVICE_TRAINER_SERVICE_H_
#define SKERRY_TRAINER_SERVICE_TRAINER_SERVICE_H_

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/skerry/v1/trainer.grpc.pb.h"
#include "runtime/executor.h"
#include "runtime/posix/mutex.h"
#include "runtime/posix/shared_memory.h"
#include "trainer/core/trainer.h"
#include "trainer/service/group_opener.h"
#include "trainer/service/job_trainer.h"
#include "trainer/service/watched_collective.h"
#include "trainer/service/work_progress.h"
#include "transport/group.h"

namespace skerry::trainer {

// Calls are done one after another on `compute`, but Pause, Progress and Exit
// at once. A failed Run, Load or Group ends the group, so that other members do
// not wait for this one. A Pause that finds one of these calls in progress does
// so too. A call whose client is gone stops.
class TrainerService final : public v1::Trainer::CallbackService {
 public:
  // `compute` runs one task at a time, in order. Every call is answered before
  // this object is destroyed. `exit` is called once, when the first Exit has
  // been answered.
  TrainerService(JobTrainerMaker make, runtime::Executor& compute,
                 std::function<void()> exit);
  ~TrainerService() override;

  grpc::ServerUnaryReactor* Describe(grpc::CallbackServerContext* context,
                                     const v1::DescribeRequest* request,
                                     v1::DescribeReply* reply) override;
  grpc::ServerUnaryReactor* Run(grpc::CallbackServerContext* context,
                                const v1::RunRequest* request,
                                v1::RunReply* reply) override;
  grpc::ServerUnaryReactor* Snapshot(grpc::CallbackServerContext* context,
                                     const v1::SnapshotRequest* request,
                                     v1::SnapshotReply* reply) override;
  grpc::ServerUnaryReactor* Load(grpc::CallbackServerContext* context,
                                 const v1::LoadRequest* request,
                                 v1::LoadReply* reply) override;
  grpc::ServerUnaryReactor* OpenGroup(grpc::CallbackServerContext* context,
                                      const v1::OpenGroupRequest* request,
                                      v1::OpenGroupReply* reply) override;
  grpc::ServerUnaryReactor* Group(grpc::CallbackServerContext* context,
                                  const v1::GroupRequest* request,
                                  v1::GroupReply* reply) override;
  grpc::ServerUnaryReactor* Evaluate(grpc::CallbackServerContext* context,
                                     const v1::EvaluateRequest* request,
                                     v1::EvaluateReply* reply) override;
  grpc::ServerUnaryReactor* Generate(grpc::CallbackServerContext* context,
                                     const v1::GenerateRequest* request,
                                     v1::GenerateReply* reply) override;
  grpc::ServerUnaryReactor* SaveInner(grpc::CallbackServerContext* context,
                                      const v1::SaveInnerRequest* request,
                                      v1::SaveInnerReply* reply) override;
  grpc::ServerUnaryReactor* LoadInner(grpc::CallbackServerContext* context,
                                      const v1::LoadInnerRequest* request,
                                      v1::LoadInnerReply* reply) override;
  grpc::ServerUnaryReactor* Pause(grpc::CallbackServerContext* context,
                                  const v1::PauseRequest* request,
                                  v1::PauseReply* reply) override;
  grpc::ServerUnaryReactor* Progress(grpc::CallbackServerContext* context,
                                     const v1::ProgressRequest* request,
                                     v1::ProgressReply* reply) override;
  grpc::ServerUnaryReactor* Exit(grpc::CallbackServerContext* context,
                                 const v1::ExitRequest* request,
                                 v1::ExitReply* reply) override;

  // Makes the calls under way and in line end with Aborted.
  void StopCalls();

 private:
  using Work = absl::AnyInvocable<absl::Status(StopRequested stop)>;

  class ExitReactor;
  // Whether other members of the group take part in a call.
  enum class Scope { kLocal, kGroup };

  // Runs `work` on `compute` and answers with its status.
  grpc::ServerUnaryReactor* Serve(grpc::CallbackServerContext* context,
                                  v1::TrainerPhase phase, Scope scope,
                                  Work work);
  absl::Status DescribeJob(const v1::DescribeRequest& request,
                           StopRequested stop, v1::DescribeReply& reply);
  absl::Status OpenMemory(const std::string& name);
  absl::Status LoadState(const v1::LoadRequest& request);
  absl::Status MakePlace(const v1::OpenGroupRequest& request,
                         v1::OpenGroupReply& reply);
  absl::Status JoinGroup(const v1::GroupRequest& request);
  absl::Status SaveInnerState(const v1::SaveInnerRequest& request,
                              v1::SaveInnerReply& reply);
  absl::Status LoadInnerState(const v1::LoadInnerRequest& request,
                              v1::LoadInnerReply& reply);
  // Unimplemented: the trainer computes in no group.
  absl::Status CheckGroups() const;
  // OK when there is a trainer, and with `memory` when that is there too.
  absl::Status CheckReady(bool memory) const;
  std::span<float> State();
  void AbortGroup();

  const JobTrainerMaker make_;
  runtime::Executor& compute_;
  const std::function<void()> exit_;

  WorkProgress progress_;

  // Touched on `compute` only. The trainer computes with the collective.
  GroupOpener opener_;
  std::unique_ptr<WatchedCollective> collective_;
  JobTrainer job_trainer_;
  std::string job_;  // serialized
  std::unique_ptr<runtime::SharedMemory> memory_;

  // A call stops when this has moved since it arrived.
  std::atomic<uint64_t> stops_{0};
  runtime::Mutex mutex_;
  std::unique_ptr<ExitReactor> exit_reactor_ ABSL_GUARDED_BY(mutex_);
  int group_calls_ ABSL_GUARDED_BY(mutex_) = 0;  // unanswered
  std::shared_ptr<transport::Group> group_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_SERVICE_TRAINER_SERVICE_H_
