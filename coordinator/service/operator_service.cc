#include "coordinator/service/operator_service.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "base/status.h"
#include "coordinator/convert/fields.h"
#include "coordinator/convert/operator.h"
#include "coordinator/service/find_job.h"
#include "coordinator/service/grpc_status.h"
#include "coordinator/service/unary_checks.h"
#include "job/convert/job_spec.h"
#include "runtime/posix/heap.h"

namespace skerry::coordinator {
namespace {

constexpr absl::Duration kHeapPause = absl::Seconds(1);

absl::Status ShowJob(const Cluster& cluster, JobId job, Instant now,
                     v1::JobView* reply) {
  SKERRY_ASSIGN_OR_RETURN(const JobView view, cluster.ViewJob(job, now));
  JobViewToProto(view, reply);
  return absl::OkStatus();
}

}  // namespace

OperatorService::OperatorService(const OperatorOptions& options, uint64_t term,
                                 runtime::EventLoop& loop, ClusterShell& shell)
    : options_(options),
      loop_(loop),
      shell_(shell),
      watches_(options.watches, loop, shell),
      events_(options.events, loop, shell),
      generate_(options.generate, term, loop, shell) {}

absl::Status OperatorService::Admit() {
  if (closed_.has_value()) return *closed_;
  if (calls_ >= options_.calls_max) {
    return absl::ResourceExhaustedError(absl::StrCat(
        options_.calls_max, " calls are waiting; try again later"));
  }
  return absl::OkStatus();
}

void OperatorService::Answer(grpc::ServerUnaryReactor* reactor,
                             const absl::Status& status) {
  --calls_;
  reactor->Finish(ToGrpc(status));
}

grpc::ServerUnaryReactor* OperatorService::Take(Context* context,
                                                Admitted begin) {
  const absl::Status bounded = RequireDeadline(*context);
  if (!bounded.ok()) return AnswerNow(context, bounded);
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  loop_.Post([this, reactor, begin = std::move(begin)]() mutable {
    const absl::Status admitted = Admit();
    if (!admitted.ok()) {
      reactor->Finish(ToGrpc(admitted));
      return;
    }
    ++calls_;
    std::move(begin)(reactor);
  });
  return reactor;
}

grpc::ServerUnaryReactor* OperatorService::Run(Context* context, Change change,
                                               View view) {
  return Take(context, [this, change = std::move(change),
                        view = std::move(view)](
                           grpc::ServerUnaryReactor* reactor) mutable {
    shell_.Do(
        [this, reactor, change = std::move(change), view = std::move(view)](
            Cluster& cluster, Instant now) mutable -> ClusterShell::Settled {
          return [this, reactor, changed = std::move(change)(cluster, now),
                  view = std::move(view)](const Cluster& durable,
                                          Instant later) mutable {
            if (changed.ok()) changed = std::move(view)(durable, later);
            Answer(reactor, changed);
          };
        });
  });
}

grpc::ServerUnaryReactor* OperatorService::Show(Context* context, View view) {
  return Take(context, [this, view = std::move(view)](
                           grpc::ServerUnaryReactor* reactor) mutable {
    shell_.LookSoon([this, reactor, view = std::move(view)](
                        const Cluster& durable, Instant now) mutable {
      Answer(reactor, std::move(view)(durable, now));
    });
  });
}

grpc::ServerUnaryReactor* OperatorService::SubmitJob(
    Context* context, const v1::SubmitJobRequest* request,
    v1::SubmitJobReply* reply) {
  absl::StatusOr<job::JobSpec> spec = job::JobSpecFromProto(request->spec());
  absl::Status checked = CheckKey(request->idempotency());
  if (checked.ok()) checked = spec.status();
  if (!checked.ok()) return AnswerNow(context, checked);
  return Run(
      context,
      [request, reply, spec = *std::move(spec)](Cluster& cluster,
                                                Instant now) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(
            const Submission submission,
            cluster.Submit(spec, request->idempotency().key(), now,
                           request->apply()));
        reply->mutable_job()->set_id(submission.job.value());
        reply->set_unchanged(submission.unchanged);
        for (const std::string& warning : submission.warnings) {
          reply->add_warnings(warning);
        }
        return absl::OkStatus();
      },
      [reply](const Cluster& cluster, Instant now) {
        return ShowJob(cluster, JobId(reply->job().id()), now,
                       reply->mutable_job());
      });
}

grpc::ServerUnaryReactor* OperatorService::GetJob(
    Context* context, const v1::GetJobRequest* request, v1::JobView* reply) {
  return Show(
      context,
      [request, reply](const Cluster& cluster, Instant now) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(const JobId job, FindJob(cluster, *request));
        return ShowJob(cluster, job, now, reply);
      });
}

grpc::ServerUnaryReactor* OperatorService::ListJobs(Context* context,
                                                    const v1::ListJobsRequest*,
                                                    v1::ListJobsReply* reply) {
  return Show(context, [reply](const Cluster& cluster, Instant now) {
    for (const JobView& view : cluster.ViewJobs(now)) {
      JobViewToProto(view, reply->add_jobs());
    }
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::JobView>* OperatorService::WatchJob(
    Context* context, const v1::GetJobRequest* request) {
  return watches_.Open(*context, *request);
}

grpc::ServerUnaryReactor* OperatorService::CancelJob(
    Context* context, const v1::CancelJobRequest* request, v1::JobView* reply) {
  const absl::Status checked = CheckKey(request->idempotency());
  if (!checked.ok()) return AnswerNow(context, checked);
  return Run(
      context,
      [request, reply](Cluster& cluster, Instant now) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(const JobId job, FindJob(cluster, *request));
        reply->set_id(job.value());
        return cluster.Cancel(job, now);
      },
      [reply](const Cluster& cluster, Instant now) {
        return ShowJob(cluster, JobId(reply->id()), now, reply);
      });
}

grpc::ServerUnaryReactor* OperatorService::DeleteJob(
    Context* context, const v1::DeleteJobRequest* request, v1::JobView* reply) {
  const absl::Status checked = CheckKey(request->idempotency());
  if (!checked.ok()) return AnswerNow(context, checked);
  return Run(
      context,
      [request, reply](Cluster& cluster, Instant now) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(const JobId job, FindJob(cluster, *request));
        SKERRY_RETURN_IF_ERROR(ShowJob(cluster, job, now, reply));
        return cluster.Delete(job, now);
      },
      [](const Cluster&, Instant) { return absl::OkStatus(); });
}

template <typename Request>
grpc::ServerUnaryReactor* OperatorService::SetPaused(Context* context,
                                                     const Request* request,
                                                     bool paused,
                                                     v1::JobView* reply) {
  const absl::Status checked = CheckKey(request->idempotency());
  if (!checked.ok()) return AnswerNow(context, checked);
  return Run(
      context,
      [request, reply, paused](Cluster& cluster, Instant now) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(const JobId job, FindJob(cluster, *request));
        reply->set_id(job.value());
        return cluster.SetPaused(job, paused, now);
      },
      [reply](const Cluster& cluster, Instant now) {
        return ShowJob(cluster, JobId(reply->id()), now, reply);
      });
}

grpc::ServerUnaryReactor* OperatorService::PauseJob(
    Context* context, const v1::PauseJobRequest* request, v1::JobView* reply) {
  return SetPaused(context, request, true, reply);
}

grpc::ServerUnaryReactor* OperatorService::ResumeJob(
    Context* context, const v1::ResumeJobRequest* request, v1::JobView* reply) {
  return SetPaused(context, request, false, reply);
}

grpc::ServerUnaryReactor* OperatorService::RestoreJob(
    Context* context, const v1::RestoreJobRequest* request,
    v1::JobView* reply) {
  const absl::Status checked = CheckKey(request->idempotency());
  if (!checked.ok()) return AnswerNow(context, checked);
  auto choice = RestoreChoiceFromProto(*request);
  if (!choice.ok()) return AnswerNow(context, choice.status());
  return Run(
      context,
      [request, reply, choice = *std::move(choice)](
          Cluster& cluster, Instant now) mutable -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(const JobId job, FindJob(cluster, *request));
        reply->set_id(job.value());
        return cluster.RestoreJob(job, std::move(choice), now);
      },
      [reply](const Cluster& cluster, Instant now) {
        return ShowJob(cluster, JobId(reply->id()), now, reply);
      });
}

grpc::ServerUnaryReactor* OperatorService::PlanJob(
    Context* context, const v1::PlanJobRequest* request,
    v1::PlanJobReply* reply) {
  absl::StatusOr<job::JobSpec> spec = job::JobSpecFromProto(request->spec());
  if (!spec.ok()) return AnswerNow(context, spec.status());
  // Arguments are evaluated in any order, and one of them takes the spec away.
  std::vector<std::string> paths;
  if (!spec->data.path.empty()) paths.push_back(spec->data.path);
  if (spec->checkpoint.has_value()) {
    paths.push_back(spec->checkpoint->directory);
  }
  return Run(
      context,
      [paths = std::move(paths)](Cluster& cluster, Instant now) {
        for (const std::string& path : paths) cluster.LookAt(path, now);
        return absl::OkStatus();
      },
      [request, reply, spec = *std::move(spec)](const Cluster& cluster,
                                                Instant) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(const JobPlan plan,
                                cluster.Plan(spec, request->parameters()));
        JobPlanToProto(plan, reply);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* OperatorService::SetWorkerIntent(
    Context* context, const v1::SetWorkerIntentRequest* request,
    v1::WorkerView* reply) {
  const absl::StatusOr<WorkerIntent> intent =
      IntentFromProto(request->intent(), "intent");
  absl::Status checked = CheckKey(request->idempotency());
  if (checked.ok()) checked = intent.status();
  if (!checked.ok()) return AnswerNow(context, checked);
  return Run(
      context,
      [request, intent = *intent](Cluster& cluster, Instant now) {
        return cluster.SetIntent(request->worker(), intent, now);
      },
      [request, reply](const Cluster& cluster, Instant now) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(const WorkerView view,
                                cluster.ViewWorker(request->worker(), now));
        WorkerViewToProto(view, reply);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* OperatorService::RemoveStoredJobs(
    Context* context, const v1::RemoveStoredJobsRequest* request,
    v1::WorkerView* reply) {
  const absl::Status checked = CheckKey(request->idempotency());
  if (!checked.ok()) return AnswerNow(context, checked);
  return Run(
      context,
      [request](Cluster& cluster, Instant now) {
        std::vector<StoredJobKey> keys;
        for (const v1::StoredJobKey& key : request->stored_jobs()) {
          keys.push_back({JobId(key.job()), key.uid()});
        }
        return cluster.RemoveStored(request->worker(), keys, now);
      },
      [request, reply](const Cluster& cluster, Instant now) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(const WorkerView view,
                                cluster.ViewWorker(request->worker(), now));
        WorkerViewToProto(view, reply);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* OperatorService::ListWorkers(
    Context* context, const v1::ListWorkersRequest*,
    v1::ListWorkersReply* reply) {
  return Show(context, [reply](const Cluster& cluster, Instant now) {
    for (const WorkerView& view : cluster.ViewWorkers(now)) {
      WorkerViewToProto(view, reply->add_workers());
    }
    return absl::OkStatus();
  });
}

grpc::ServerWriteReactor<v1::Event>* OperatorService::StreamEvents(
    Context* context, const v1::StreamEventsRequest* request) {
  return events_.Open(*context, *request);
}

grpc::ServerUnaryReactor* OperatorService::AuditData(
    Context* context, const v1::AuditDataRequest* request,
    v1::AuditDataReply* reply) {
  return Show(
      context,
      [request, reply](const Cluster& cluster, Instant) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(const JobId job, FindJob(cluster, *request));
        SKERRY_ASSIGN_OR_RETURN(const AuditReport report, cluster.Audit(job));
        AuditReportToProto(report, reply);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* OperatorService::Generate(
    Context* context, const v1::GenerateTextRequest* request,
    v1::GenerateTextReply* reply) {
  const absl::Status bounded = RequireDeadline(*context);
  if (!bounded.ok()) return AnswerNow(context, bounded);
  return generate_.Open(request, reply);
}

grpc::ServerUnaryReactor* OperatorService::LocateState(
    Context* context, const v1::GetJobRequest* request, v1::StateView* reply) {
  return Show(
      context,
      [request, reply](const Cluster& cluster, Instant) -> absl::Status {
        SKERRY_ASSIGN_OR_RETURN(const JobId job, FindJob(cluster, *request));
        SKERRY_ASSIGN_OR_RETURN(const StateView view, cluster.LocateState(job));
        StateViewToProto(view, reply);
        return absl::OkStatus();
      });
}

grpc::ServerUnaryReactor* OperatorService::GetVersion(
    Context* context, const v1::GetVersionRequest* request,
    v1::GetVersionReply* reply) {
  absl::Status checked = RequireDeadline(*context);
  if (checked.ok() && request->protocol_version() != kProtocolVersion) {
    checked = absl::FailedPreconditionError(
        absl::StrCat("the caller speaks protocol ", request->protocol_version(),
                     ", this coordinator ", kProtocolVersion, " (release ",
                     kRelease, "); run the same release on both"));
  }
  reply->set_protocol_version(kProtocolVersion);
  reply->set_release(kRelease);
  if (options_.look) {
    const protocol::MachineFacts machine = options_.look();
    reply->mutable_machine()->set_unix_ms(machine.unix_ms);
    reply->mutable_machine()->set_state_free_bytes(machine.state_free_bytes);
    reply->mutable_machine()->set_state_bytes(machine.state_bytes);
  }
  return AnswerNow(context, checked);
}

void OperatorService::OnSettled(const Cluster& cluster, Instant now,
                                std::span<const Entry> fresh,
                                std::vector<GenerateAnswer> answers) {
  ApplyRevoked(cluster);
  generate_.OnAnswers(std::move(answers));
  events_.OnSettled(fresh, now);
  watches_.OnSettled(cluster, now);
  const bool leaves =
      std::any_of(fresh.begin(), fresh.end(), [](const Entry& entry) {
        return std::holds_alternative<JobEnded>(entry.record) ||
               std::holds_alternative<JobDeleted>(entry.record);
      });
  if (leaves) ReturnHeapSoon();
}

void OperatorService::ReturnHeapSoon() {
  if (std::exchange(returns_heap_, true)) return;
  loop_.RunAt(loop_.Now() + kHeapPause, [this] {
    returns_heap_ = false;
    runtime::ReturnFreeHeap();
  });
}

void OperatorService::Close(const absl::Status& why) {
  closed_ = why;
  watches_.Close(why);
  events_.Close(why);
  generate_.Close(why);
}

}  // namespace skerry::coordinator
