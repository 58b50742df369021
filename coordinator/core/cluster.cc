#include "coordinator/core/cluster.h"

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "coordinator/core/rules/data_looks.h"
#include "coordinator/core/rules/divergence.h"
#include "coordinator/core/rules/evaluations.h"
#include "coordinator/core/rules/fit.h"
#include "coordinator/core/rules/job_rules.h"
#include "coordinator/core/rules/membership.h"
#include "coordinator/core/rules/state_view.h"
#include "coordinator/core/rules/worker_directory.h"
#include "coordinator/core/state/cluster_fold.h"
#include "coordinator/core/state/job_table.h"
#include "coordinator/core/views/job_view.h"
#include "coordinator/core/views/orders_writer.h"
#include "coordinator/core/views/stored_jobs.h"
#include "coordinator/core/views/worker_view.h"
#include "job/review.h"

namespace skerry::coordinator {

using protocol::StoredKeys;
class Cluster::Impl {
 public:
  explicit Impl(const ClusterOptions& options)
      : options_(options), fold_(options), desk_(options.generate_max) {
    SKERRY_CHECK(ValidateClusterOptions(options).ok());
  }

  Impl(const Impl& o)  // `turn_` and `emit_` stay with their own object
      : options_(o.options_),
        now_(o.now_),
        fold_(o.fold_),
        desk_(o.desk_),
        looks_(o.looks_) {}

  absl::Status Apply(const Entry& entry) { return fold_.Apply(entry); }
  absl::Status Restore(const ClusterSnapshot& saved) {
    return fold_.Restore(saved);
  }
  ClusterSnapshot Save() const { return fold_.Save(); }

  void Recovered(Instant now) {
    now_ = now;
    fold_.Recovered();
    workers_.GiveLeases(now);
    for (auto& [id, job] : jobs_.all()) JobRecovered(job, options_, now);
    DecideAll();
  }

  absl::Status OnStatus(const StatusFacts& status, Instant now) {
    Advance(now);
    const auto judged = workers_.Judge(status, now);
    if (!judged.ok()) {
      workers_.Refused(status, judged.status(), now);
      return judged.status();
    }
    const WorkerTable::Verdict verdict = *judged;
    if (verdict == WorkerTable::Verdict::kRepetition) return absl::OkStatus();
    const bool lost = fold_.KnowsLostRecords(status);
    fold_.RaiseNumbers(status);
    if (verdict == WorkerTable::Verdict::kRegister) Register(status);
    const std::string& name = status.self.worker;
    const Worker& before = *workers_.FindCurrent(name);
    const Incarnation incarnation = before.incarnation;
    bool changed =
        verdict == WorkerTable::Verdict::kRegister || before.MayMoveBy(status);
    changed |= workers_.Heard(status, now);
    if (changed) workers_.AddRelayed(touched_);
    for (auto& [id, job] : jobs_.all()) {
      if (lost) EndLaterLife(job, MakeDecider(), name, SeenBy(status));
      const JobFacts* facts = nullptr;
      for (const JobFacts& f : status.jobs) {
        if (f.job == id && (f.uid == 0 || f.uid == UidOf(job))) facts = &f;
      }
      const bool heard = HearSeat(job, name, incarnation, facts, options_);
      if (facts != nullptr) {
        NameLinks(workers_, job.seats.at(name).facts.links);
        TakeFacts(job, MakeDecider(), name, *facts);
        desk_.OnFacts(name, *facts);
      }
      if (changed) job.places_stale = true;
      if (changed || heard) job.undecided = true;
    }
    return absl::OkStatus();
  }

  void OnStreamLost(std::string_view worker, Boot boot, Instant now) {
    Advance(now);
    if (workers_.LoseStream(worker, boot, now)) DecideAll();
  }

  absl::StatusOr<Submission> Submit(const job::JobSpec& spec,
                                    std::string_view key, Instant now,
                                    bool apply) {
    Advance(now);
    constexpr size_t kKeyMax = 128;
    if (key.empty() || key.size() > kKeyMax) {
      return absl::InvalidArgumentError(absl::StrCat(
          "idempotency: the key has to be 1 to ", kKeyMax, " bytes"));
    }
    SKERRY_ASSIGN_OR_RETURN(auto reviewed, job::ReviewJobSpec(spec));
    SKERRY_ASSIGN_OR_RETURN(const std::optional<JobId> repeated,
                            jobs_.Place(reviewed.spec, key, apply));
    if (repeated.has_value()) {
      return Submission{*repeated, std::move(reviewed.warnings), true};
    }
    SKERRY_RETURN_IF_ERROR(ReviewFit(workers_, fold_.NextJob(), reviewed));
    Emit(JobSubmitted{std::move(reviewed.spec), std::string(key)});
    const JobId id(fold_.revision().value());
    SKERRY_ASSIGN_OR_RETURN(JobState * job, jobs_.Find(id));
    job->since = now;
    // It may come before others that have not begun.
    DecideAll();
    return Submission{id, std::move(reviewed.warnings)};
  }

  absl::Status Cancel(JobId id, Instant now) {
    Advance(now);
    SKERRY_ASSIGN_OR_RETURN(JobState * job, jobs_.Find(id));
    if (job->Ended()) return absl::OkStatus();
    Emit(JobEnded{id, JobPhase::kCancelled, "cancelled by the operator"});
    DecideAll();
    return absl::OkStatus();
  }

  absl::Status Delete(JobId id, Instant now) {
    Advance(now);
    SKERRY_RETURN_IF_ERROR(jobs_.CheckDeletable(id));
    Emit(JobDeleted{id});
    return absl::OkStatus();
  }

  absl::Status SetPaused(JobId id, bool paused, Instant now) {
    Advance(now);
    SKERRY_ASSIGN_OR_RETURN(JobState * job, jobs_.FindUnfinished(id));
    if (job->paused == paused) return absl::OkStatus();
    Emit(JobPaused{id, paused});
    DecideOne(*job);
    return absl::OkStatus();
  }

  absl::Status RestoreJob(JobId id, std::optional<Checkpointed> saved,
                          Instant now) {
    Advance(now);
    SKERRY_ASSIGN_OR_RETURN(JobState * job, jobs_.FindUnfinished(id));
    SKERRY_RETURN_IF_ERROR(
        saved.has_value()
            ? GoBackToSaved(*job, MakeDecider(), *std::move(saved))
            : AdoptWorkers(*job, MakeDecider()));
    DecideOne(*job);
    return absl::OkStatus();
  }

  absl::Status SetIntent(std::string_view name, WorkerIntent intent,
                         Instant now) {
    Advance(now);
    SKERRY_ASSIGN_OR_RETURN(const Worker* worker, workers_.Find(name));
    if (worker->intent == intent) return absl::OkStatus();
    Emit(WorkerMarked{std::string(name), intent});
    touched_.insert(std::string(name));
    DecideAll();
    return absl::OkStatus();
  }

  absl::Status RemoveStored(std::string_view name, StoredKeys keys,
                            Instant now) {
    Advance(now);
    touched_.insert(std::string(name));
    return RemoveStoredJobs(jobs_, workers_, name, keys);
  }

  absl::Status ChangeJoins(JoinRule rule, Instant now) {
    Advance(now);
    SKERRY_ASSIGN_OR_RETURN(auto change, rule(fold_.joins));
    const uint64_t told = fold_.joins.revoked_version();
    if (change.has_value()) Emit(*std::move(change));
    if (fold_.joins.revoked_version() != told) workers_.AddNames(touched_);
    return absl::OkStatus();
  }

  absl::StatusOr<JobPlan> Plan(const job::JobSpec& spec,
                               uint64_t elements) const {
    SKERRY_ASSIGN_OR_RETURN(auto reviewed, job::ReviewJobSpec(spec));
    SKERRY_RETURN_IF_ERROR(jobs_.Place(reviewed.spec, "", false).status());
    SKERRY_RETURN_IF_ERROR(ReviewFit(workers_, fold_.NextJob(), reviewed));
    return PlanNext(std::move(reviewed), elements, jobs_, workers_, options_);
  }

  absl::Status Generate(JobId id, const GenerateOrder& request,
                        absl::Duration timeout, Instant now) {
    Advance(now);
    SKERRY_ASSIGN_OR_RETURN(const JobState* job, jobs_.Find(id));
    SKERRY_ASSIGN_OR_RETURN(const std::string name,
                            FindWholeState(*job, workers_));
    SKERRY_RETURN_IF_ERROR(desk_.Ask(id, name, request, now + timeout));
    touched_.insert(name);
    return absl::OkStatus();
  }

  void ForgetGenerate(uint64_t request) { desk_.Forget(request); }

  void LookAt(const std::string& path, Instant now) {
    Advance(now);
    looks_.Ask(path, now, workers_, touched_);
  }

  void GiveLeases(Instant now) {
    SKERRY_CHECK(now >= now_);
    now_ = now;
    workers_.GiveLeases(now);
  }

  void Tick(Instant now) {
    Advance(now);
    for (auto& [id, job] : jobs_.all()) {
      const auto due = NextOf(job);
      if (due.has_value() && *due <= now) DecideOne(job);
    }
  }

  std::optional<Instant> NextDeadline() const {
    std::optional<Instant> next = workers_.NextDeadline();
    const auto consider = [&next](std::optional<Instant> moment) {
      if (moment && (!next || *moment < *next)) next = moment;
    };
    consider(desk_.NextDeadline());
    for (const auto& [id, job] : jobs_.all()) consider(NextOf(job));
    return next;
  }

  std::vector<Entry> TakeRecords() {
    for (auto& [id, job] : jobs_.all()) {
      if (job.undecided) DecideOne(job);
    }
    return fold_.TakeRecords();
  }

  std::vector<std::string> TakeTouched() {
    for (auto& [id, job] : jobs_.all()) {
      touched_.insert(job.touched.begin(), job.touched.end());
      job.touched.clear();
    }
    std::vector<std::string> names;
    for (const std::string& name : std::exchange(touched_, {})) {
      if (workers_.FindCurrent(name) != nullptr) names.push_back(name);
    }
    return names;
  }

  std::vector<GenerateAnswer> TakeAnswers() { return desk_.TakeAnswers(); }
  void WriteOrders(std::span<const std::string> names, Instant now,
                   WriteTo write) const {
    SKERRY_CHECK(!fold_.has_records());
    OrdersWriter writer(jobs_, workers_, options_, now);
    for (const std::string& name : names) {
      const Worker* worker = workers_.FindCurrent(name);
      if (worker == nullptr) continue;
      Orders orders = writer.For(*worker);
      orders.revision = fold_.revision();
      orders.data_paths = looks_.PathsFor(*worker, now);
      orders.revoked = fold_.joins.RevokedAfter(worker->revoked_version);
      AddStoredJobs(jobs_, *worker, orders);
      for (protocol::JobOrders& job : orders.jobs) {
        job.generate = desk_.OrdersFor(job.job, name);
      }
      write(name, std::move(orders));
    }
  }

  Revision revision() const { return fold_.revision(); }
  const JobTable& jobs() const { return jobs_; }
  const JoinTable& joins() const { return fold_.joins; }
  const WorkerTable& workers() const { return workers_; }

  absl::StatusOr<JobView> ViewJob(JobId id, Instant now) const {
    SKERRY_ASSIGN_OR_RETURN(const JobState* job, jobs_.Find(id));
    return ViewOf(*job, workers_, options_, turn_(id), fold_.revision(), now);
  }

  std::vector<JobView> ViewJobs(Instant now) const {
    return ViewAllJobs(jobs_, workers_, options_, fold_.revision(), now);
  }

  std::vector<WorkerView> ViewWorkers(Instant now) const {
    return ViewAllWorkers(jobs_, workers_, options_, now);
  }

  absl::StatusOr<WorkerView> ViewWorker(std::string_view name,
                                        Instant now) const {
    SKERRY_ASSIGN_OR_RETURN(const Worker* worker, workers_.Find(name));
    return ViewOfWorker(jobs_, workers_, *worker, options_, now);
  }

  uint64_t StateHash() const { return fold_.StateHash(); }

 private:
  void Emit(Record record) { fold_.Emit(std::move(record)); }

  Decider MakeDecider() {
    return Decider{now_, options_, workers_, turn_, emit_};
  }

  void DecideOne(JobState& job) {
    const bool ended = job.Ended();
    DecideJob(job, MakeDecider());
    if (!ended && job.Ended()) DecideOthersAnew();
  }

  // A job has ended, so others may have workers that they had not before.
  void DecideOthersAnew() {
    for (auto& [id, job] : jobs_.all()) {
      job.places_stale = true;
      if (!job.Ended()) DecideJob(job, MakeDecider());
    }
  }

  void DecideAll() {
    workers_.AddRelayed(touched_);
    for (auto& [id, job] : jobs_.all()) {
      job.places_stale = true;
      DecideOne(job);
    }
  }

  std::optional<Instant> NextOf(const JobState& job) const {
    Earliest earliest(job.decided_at);
    CollectJob(job, options_, earliest);
    return earliest.found();
  }

  // What time alone brings about.
  void Advance(Instant now) {
    SKERRY_CHECK(now >= now_);
    now_ = now;
    desk_.Expire(now);
    const std::vector<std::string> expired = workers_.Expired(now);
    for (const std::string& name : expired) {
      const Incarnation incarnation = workers_.FindCurrent(name)->incarnation;
      Lose(name, absl::StrCat("worker ", name, " was silent for a lease"));
      Emit(WorkerLeft{name, incarnation, "it was silent for a lease"});
    }
    if (!workers_.SuspectDue(now).empty() || !expired.empty()) DecideAll();
  }

  void Lose(const std::string& name, const std::string& reason) {
    desk_.OnWorkerLost(name);
    for (auto& [id, job] : jobs_.all()) {
      LoseWorker(job, MakeDecider(), name, reason);
    }
  }

  void Register(const StatusFacts& status) {
    const std::string& name = status.self.worker;
    if (workers_.FindCurrent(name) != nullptr) {
      Lose(name, absl::StrCat("worker ", name, " has started anew"));
    }
    Emit(WorkerAdmitted{status.self, status.boot, status.island, status.release,
                        status.folder, status.process});
  }

  const ClusterOptions options_;
  Instant now_;
  ClusterFold fold_;
  WorkerTable& workers_ = fold_.workers;
  JobTable& jobs_ = fold_.jobs;
  absl::btree_set<std::string>& touched_ = fold_.touched;
  GenerateDesk desk_;
  DataLooks looks_;
  std::function<Turn(JobId)> turn_ = [this](JobId id) {
    return jobs_.QueueFor(workers_).TurnOf(id);
  };
  std::function<void(Record)> emit_ = [this](Record record) {
    Emit(std::move(record));
  };
};

Cluster::Cluster(const ClusterOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}
Cluster::Cluster(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Cluster::~Cluster() = default;
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster& Cluster::operator=(Cluster&&) noexcept = default;

absl::Status Cluster::Apply(const Entry& entry) { return impl_->Apply(entry); }
absl::Status Cluster::Restore(const ClusterSnapshot& snapshot) {
  return impl_->Restore(snapshot);
}
ClusterSnapshot Cluster::Save() const { return impl_->Save(); }
void Cluster::Recovered(Instant now) { impl_->Recovered(now); }
absl::Status Cluster::OnStatus(const StatusFacts& status, Instant now) {
  return impl_->OnStatus(status, now);
}
void Cluster::OnStreamLost(std::string_view worker, Boot boot, Instant now) {
  impl_->OnStreamLost(worker, boot, now);
}
absl::StatusOr<Submission> Cluster::Submit(const job::JobSpec& spec,
                                           std::string_view idempotency_key,
                                           Instant now, bool apply) {
  return impl_->Submit(spec, idempotency_key, now, apply);
}
absl::Status Cluster::Delete(JobId job, Instant now) {
  return impl_->Delete(job, now);
}
absl::Status Cluster::Cancel(JobId job, Instant now) {
  return impl_->Cancel(job, now);
}
absl::Status Cluster::SetPaused(JobId job, bool paused, Instant now) {
  return impl_->SetPaused(job, paused, now);
}
absl::Status Cluster::RestoreJob(JobId job, std::optional<Checkpointed> saved,
                                 Instant now) {
  return impl_->RestoreJob(job, std::move(saved), now);
}
absl::Status Cluster::SetIntent(std::string_view worker, WorkerIntent intent,
                                Instant now) {
  return impl_->SetIntent(worker, intent, now);
}
absl::Status Cluster::RemoveStored(std::string_view worker, StoredKeys keys,
                                   Instant now) {
  return impl_->RemoveStored(worker, keys, now);
}
absl::Status Cluster::ChangeJoins(JoinRule rule, Instant now) {
  return impl_->ChangeJoins(rule, now);
}
const JoinTable& Cluster::joins() const { return impl_->joins(); }
absl::StatusOr<JobPlan> Cluster::Plan(const job::JobSpec& spec,
                                      uint64_t elements) const {
  return impl_->Plan(spec, elements);
}
absl::StatusOr<WorkerView> Cluster::ViewWorker(std::string_view worker,
                                               Instant now) const {
  return impl_->ViewWorker(worker, now);
}
absl::Status Cluster::Generate(JobId job, const GenerateOrder& request,
                               absl::Duration timeout, Instant now) {
  return impl_->Generate(job, request, timeout, now);
}
void Cluster::ForgetGenerate(uint64_t request) {
  impl_->ForgetGenerate(request);
}
void Cluster::LookAt(const std::string& path, Instant now) {
  impl_->LookAt(path, now);
}
void Cluster::GiveLeases(Instant now) { impl_->GiveLeases(now); }
void Cluster::Tick(Instant now) { impl_->Tick(now); }
std::optional<Instant> Cluster::NextDeadline() const {
  return impl_->NextDeadline();
}
std::vector<Entry> Cluster::TakeRecords() { return impl_->TakeRecords(); }
std::vector<std::string> Cluster::TakeTouched() { return impl_->TakeTouched(); }
std::vector<GenerateAnswer> Cluster::TakeAnswers() {
  return impl_->TakeAnswers();
}
void Cluster::WriteOrders(std::span<const std::string> workers, Instant now,
                          WriteTo write) const {
  impl_->WriteOrders(workers, now, write);
}
Revision Cluster::revision() const { return impl_->revision(); }
absl::StatusOr<JobId> Cluster::FindJob(std::string_view name) const {
  return impl_->jobs().FindName(name);
}
absl::StatusOr<JobView> Cluster::ViewJob(JobId job, Instant now) const {
  return impl_->ViewJob(job, now);
}
std::vector<JobView> Cluster::ViewJobs(Instant now) const {
  return impl_->ViewJobs(now);
}
std::vector<WorkerView> Cluster::ViewWorkers(Instant now) const {
  return impl_->ViewWorkers(now);
}
absl::StatusOr<StateView> Cluster::LocateState(JobId id) const {
  SKERRY_ASSIGN_OR_RETURN(const JobState* job, impl_->jobs().Find(id));
  return coordinator::LocateState(*job, impl_->workers());
}
absl::StatusOr<AuditReport> Cluster::Audit(JobId id) const {
  SKERRY_ASSIGN_OR_RETURN(const JobState* job, impl_->jobs().Find(id));
  return job->audit.Report();
}
uint64_t Cluster::StateHash() const { return impl_->StateHash(); }
void Cluster::CheckInvariants() const {
  impl_->jobs().CheckInvariants(impl_->workers());
}
Cluster Cluster::Clone() const {
  return Cluster(std::make_unique<Impl>(*impl_));
}

}  // namespace skerry::coordinator
