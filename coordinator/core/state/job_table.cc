#include "coordinator/core/state/job_table.h"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "coordinator/core/state/job_snapshot.h"

namespace skerry::coordinator {
namespace {

absl::Status NoSuchJob(JobId job) {
  return absl::NotFoundError(absl::StrCat("no job ", job.value()));
}

}  // namespace

JobId JobOf(const Entry& entry) {
  return std::visit(
      [&](const auto& record) {
        using T = std::decay_t<decltype(record)>;
        if constexpr (std::is_same_v<T, JobSubmitted>) {
          return JobId(entry.index.value());
        } else if constexpr (requires { record.job; }) {
          return record.job;
        } else {
          return JobId();
        }
      },
      entry.record);
}

void CollectTouched(const JobTable& jobs, const Entry& entry,
                    absl::btree_set<std::string>& touched) {
  const auto found = jobs.Find(JobOf(entry));
  if (!found.ok()) return;
  const JobState& job = **found;
  Life only;
  if (const auto* granted = std::get_if<Granted>(&entry.record)) {
    only = granted->life;
  } else if (const auto* dropped = std::get_if<Dropped>(&entry.record)) {
    only = dropped->life;
  } else if (const auto* ended = std::get_if<ReplicaEnded>(&entry.record)) {
    only = ended->life;
  }
  for (const auto& [life, replica] : job.replicas.current()) {
    if (only.is_set() && life != only) continue;
    for (const SpanHolder& holder : replica.holders) {
      touched.insert(holder.peer.worker);
    }
  }
  if (only.is_set()) return;
  for (const auto& [name, seat] : job.seats) touched.insert(name);
}

absl::Status JobTable::Apply(const Entry& entry) {
  const JobId id = JobOf(entry);
  if (const auto* submitted = std::get_if<JobSubmitted>(&entry.record)) {
    ForgetOldest();
    jobs_.try_emplace(id, id, *submitted, options_);
    return absl::OkStatus();
  }
  const auto it = jobs_.find(id);
  if (it == jobs_.end()) {
    return absl::DataLossError(
        absl::StrCat("it is about job ", id.value(), ", which is not known"));
  }
  if (std::holds_alternative<JobDeleted>(entry.record)) {
    if (!it->second.Ended()) {
      return absl::DataLossError("a job is deleted that has not ended");
    }
    Forget(it, /*deleted=*/true);
    return absl::OkStatus();
  }
  return ApplyToJob(it->second, entry);
}

std::vector<JobSnapshot> JobTable::Save() const {
  std::vector<JobSnapshot> saved;
  for (const auto& [id, job] : jobs_) saved.push_back(SaveJob(job));
  return saved;
}

absl::Status JobTable::Restore(const std::vector<JobSnapshot>& saved,
                               const std::vector<GoneJob>& gone) {
  for (const GoneJob& one : gone) gone_[one.job] = one;
  for (const JobSnapshot& one : saved) {
    const auto [it, fresh] =
        jobs_.try_emplace(one.job, one.job, one.submitted, options_);
    if (!fresh) {
      return absl::DataLossError(
          absl::StrCat("job ", one.job.value(), " is there twice"));
    }
    const absl::Status restored = RestoreJob(it->second, one);
    if (!restored.ok()) {
      return Annotate(restored, absl::StrCat("job ", one.job.value()));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<JobId>> JobTable::Place(const job::JobSpec& spec,
                                                     std::string_view key,
                                                     bool apply) const {
  size_t unfinished = 0;
  for (const auto& [id, job] : jobs_) {
    if (job.idempotency_key == key) {
      if (job.spec == spec) return std::optional<JobId>(id);
      return absl::FailedPreconditionError(
          absl::StrCat("idempotency: this key submitted job ", id.value(),
                       " with other content; use a new key"));
    }
  }
  if (apply) {
    const absl::StatusOr<JobId> newest = FindName(spec.name);
    if (newest.ok() && jobs_.at(*newest).spec == spec) {
      return std::optional<JobId>(*newest);
    }
  }
  for (const auto& [id, job] : jobs_) {
    if (job.Ended()) continue;
    ++unfinished;
    if (job.spec.name != spec.name) continue;
    return absl::AlreadyExistsError(
        absl::StrCat("job ", id.value(), " named ", job.spec.name,
                     apply ? " is not finished and is another one; a job "
                             "cannot be changed:"
                           : " is not finished;",
                     " cancel it or take another name"));
  }
  if (unfinished >= options_.jobs_max) {
    return absl::ResourceExhaustedError(
        absl::StrCat(unfinished, " jobs are not finished; cancel some"));
  }
  return std::optional<JobId>();
}

absl::Status JobTable::CheckDeletable(JobId id) const {
  SKERRY_ASSIGN_OR_RETURN(const JobState* job, Find(id));
  if (job->Ended()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("job ", job->spec.name, " has not ended; cancel it first"));
}

absl::StatusOr<JobState*> JobTable::Find(JobId job) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return NoSuchJob(job);
  return &it->second;
}

absl::StatusOr<const JobState*> JobTable::Find(JobId job) const {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return NoSuchJob(job);
  return &it->second;
}

absl::StatusOr<JobState*> JobTable::FindUnfinished(JobId id) {
  SKERRY_ASSIGN_OR_RETURN(JobState * job, Find(id));
  if (!job->Ended()) return job;
  return absl::FailedPreconditionError(
      absl::StrCat("job ", job->spec.name, " has ended: ", job->end_reason));
}

absl::StatusOr<JobId> JobTable::FindName(std::string_view name) const {
  for (auto it = jobs_.rbegin(); it != jobs_.rend(); ++it) {
    if (it->second.spec.name == name) return it->first;
  }
  return absl::NotFoundError(absl::StrCat(
      "no job named ", absl::string_view(name.data(), name.size())));
}

std::vector<QueuedJob> JobTable::Queued() const {
  std::vector<QueuedJob> queued;
  for (const auto& [id, job] : jobs_) {
    if (job.Ended()) continue;
    const bool waits = job.replicas.lives() == 0 && job.places.empty();
    queued.push_back({id, &job.spec, &job.replicas.numbers(), waits});
  }
  return queued;
}

JobQueue JobTable::QueueFor(const WorkerTable& workers) const {
  return JobQueue(Queued(), workers, options_);
}

Turn JobTable::TurnOfNext(const job::JobSpec& spec,
                          const WorkerTable& workers) const {
  std::vector<QueuedJob> queued = Queued();
  const JobId next(~uint64_t{0});
  queued.push_back({next, &spec, nullptr, true});
  return JobQueue(std::move(queued), workers, options_).TurnOf(next);
}

void JobTable::HashInto(StateHasher& hasher) const {
  hasher.Add(uint64_t{jobs_.size()});
  for (const auto& [id, job] : jobs_) coordinator::HashInto(job, hasher);
}

void JobTable::CheckInvariants(const WorkerTable& workers) const {
  for (const auto& [id, job] : jobs_) {
    job.ledger.CheckInvariants();
    const AuditReport report = job.audit.Report();
    SKERRY_CHECK(report.doubled.empty());
    SKERRY_CHECK(report.samples_committed == job.ledger.consumed().total());
    if (job.Ended()) continue;
    for (const auto& [life, replica] : job.replicas.current()) {
      for (size_t rank = 0; rank < replica.holders.size(); ++rank) {
        SKERRY_CHECK(workers.IsCurrent(replica.holders[rank].peer.worker,
                                       replica.incarnations[rank]));
      }
    }
  }
}

void JobTable::ForgetOldest() {
  size_t finished = 0;
  for (const auto& [id, job] : jobs_) finished += job.Ended() ? 1 : 0;
  for (auto it = jobs_.begin();
       finished > options_.finished_jobs_max && it != jobs_.end();) {
    const bool ended = it->second.Ended();
    finished -= ended ? 1 : 0;
    it = ended ? Forget(it, /*deleted=*/false) : std::next(it);
  }
}

JobTable::Jobs::iterator JobTable::Forget(Jobs::iterator job, bool deleted) {
  gone_[job->first] = {job->first, UidOf(job->second), deleted};
  if (gone_.size() > options_.gone_jobs_max) gone_.erase(gone_.begin());
  return jobs_.erase(job);
}

std::vector<GoneJob> JobTable::SaveGone() const {
  std::vector<GoneJob> saved;
  for (const auto& [id, gone] : gone_) saved.push_back(gone);
  return saved;
}

JobFate JobTable::FateOf(const StoredJobKey& key) const {
  const auto job = jobs_.find(key.job);
  if (job != jobs_.end()) {
    if (UidOf(job->second) != key.uid) return JobFate::kUnknown;
    return job->second.Ended() ? JobFate::kEnded : JobFate::kLive;
  }
  const auto gone = gone_.find(key.job);
  if (gone == gone_.end() || gone->second.uid != key.uid) {
    return JobFate::kUnknown;
  }
  return gone->second.deleted ? JobFate::kDeleted : JobFate::kEnded;
}

}  // namespace skerry::coordinator
