#include "coordinator/core/testing/scripted_world.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "coordinator/core/log/state_hash.h"
#include "coordinator/core/testing/orders_of.h"

namespace skerry::coordinator {
namespace {

constexpr absl::Duration kStep = absl::Milliseconds(20);
constexpr absl::Duration kLease = absl::Seconds(2);
// Fates of contributions in the journal.
constexpr uint64_t kDroppedFate = ~uint64_t{0};

// Returns each span's anchor hash after the commit of `results`. `before` holds
// those after each earlier commit.
std::vector<uint64_t> Folded(const std::vector<std::vector<uint64_t>>& before,
                             const std::vector<uint64_t>& results) {
  std::vector<uint64_t> anchors;
  for (uint32_t span = 0; span < results.size(); ++span) {
    anchors.push_back(FoldAnchor(before.empty() ? span : before.back().at(span),
                                 results[span]));
  }
  return anchors;
}

}  // namespace

ClusterOptions ScriptedWorld::FastOptions() const {
  ClusterOptions options;
  options.lease = kLease;
  options.settle = absl::Milliseconds(300);
  options.takeover_wait = absl::Seconds(3);
  options.attempt_deadline_min = absl::Milliseconds(500);
  options.seats_max = options_.seats_max;
  return options;
}

ScriptedWorld::ScriptedWorld(const WorldOptions& options)
    : options_(options), random_(options.seed) {
  for (size_t i = 0; i < options.islands.size(); ++i) {
    workers_.push_back(
        std::make_unique<FakeWorker>(absl::StrCat("w", i), options.islands[i]));
    workers_.back()->Start(random_, now_);
  }
  Recover();
  for (size_t i = 0; i < options.jobs.size(); ++i) {
    const auto job =
        cluster_->Submit(options.jobs[i], absl::StrCat("key", i), now_);
    if (!job.ok()) Break(std::string(job.status().message()));
  }
  Flush();
}

void ScriptedWorld::Run() {
  while (now_ < Instant(options_.time_max) && broken_.empty()) {
    now_ = now_ + kStep;
    Faults();
    Operate();
    Deliver();
    for (const auto& worker : workers_) StepWorker(*worker);
    StepReplicas();
    for (const auto& worker : workers_) Send(*worker);
    const auto due = cluster_->NextDeadline();
    if (due.has_value() && *due <= now_) {
      cluster_->Tick(now_);
      const auto next = cluster_->NextDeadline();
      if (next.has_value() && *next <= now_) Break("Tick made no progress");
      Flush();
    }
    CheckWorkers();
    if (AllEnded()) return;
  }
}

uint64_t ScriptedWorld::JournalHash() const {
  StateHasher hasher;
  for (const Entry& entry : journal_) {
    hasher.Add(entry.index);
    hasher.Add(uint64_t{entry.record.index()});
  }
  hasher.Add(cluster_->StateHash());
  return hasher.value();
}

bool ScriptedWorld::Chance(double share) { return random_.Uniform() < share; }

bool ScriptedWorld::Faulty() const {
  return now_ < Instant(options_.faults_end);
}

bool ScriptedWorld::AllEnded() const {
  return std::all_of(truth_.begin(), truth_.end(),
                     [](const auto& job) { return job.second.ended; });
}

void ScriptedWorld::Break(const std::string& what) {
  absl::StrAppend(&broken_, absl::FormatDuration(now_.since_start()), ": ",
                  what, "\n");
}

void ScriptedWorld::Recover() {
  cluster_ = std::make_unique<Cluster>(FastOptions());
  for (const Entry& entry : journal_) {
    const absl::Status status = cluster_->Apply(entry);
    if (!status.ok()) Break(std::string(status.message()));
  }
  if (!journal_.empty() && cluster_->StateHash() != durable_hash_) {
    Break("the state after replay is another one");
  }
  if (snapshot_.has_value()) cluster_ = FromSnapshot(*cluster_);
  cluster_->Recovered(now_);
  Flush();
}

std::unique_ptr<Cluster> ScriptedWorld::FromSnapshot(const Cluster& whole) {
  auto cluster = std::make_unique<Cluster>(FastOptions());
  absl::Status status = cluster->Restore(*snapshot_);
  for (size_t i = snapshot_->revision.value();
       status.ok() && i < journal_.size(); ++i) {
    status = cluster->Apply(journal_[i]);
  }
  if (!status.ok()) Break(std::string(status.message()));
  if (cluster->StateHash() != whole.StateHash() ||
      !(cluster->Save() == whole.Save())) {
    Break("snapshot and tail are not the whole");
  }
  for (const JobView& view : whole.ViewJobs(now_)) {
    if (*cluster->Audit(view.id) != *whole.Audit(view.id)) {
      Break("snapshot and tail audit another history than the whole");
    }
  }
  return cluster;
}

void ScriptedWorld::Flush() {
  const std::vector<Entry> batch = cluster_->TakeRecords();
  if (Faulty() && !batch.empty() && Chance(10 * options_.crash)) {
    // A prefix may have reached the disk; nobody was told of any of it.
    const size_t kept = random_.Below(batch.size() + 1);
    Cluster shadow(FastOptions());
    for (size_t i = 0; i < kept; ++i) journal_.push_back(batch[i]);
    for (size_t i = 0; i < kept; ++i) CheckRecord(batch[i]);
    for (const Entry& entry : journal_) {
      if (!shadow.Apply(entry).ok()) Break("a prefix does not replay");
    }
    durable_hash_ = shadow.StateHash();
    ++crashes_;
    Recover();
    return;
  }
  for (const Entry& entry : batch) {
    journal_.push_back(entry);
    CheckRecord(entry);
  }
  durable_hash_ = cluster_->StateHash();
  cluster_->CheckInvariants();
  if (options_.snapshot > 0 && Chance(options_.snapshot)) {
    snapshot_ = cluster_->Save();
    ++snapshots_;
  }
  for (const std::string& name : cluster_->TakeTouched()) Tell(name);
}

void ScriptedWorld::CheckRecord(const Entry& entry) {
  if (const auto* submitted = std::get_if<JobSubmitted>(&entry.record)) {
    Truth& truth = truth_[JobId(entry.index.value())];
    truth.staleness_max =
        OuterDelay(submitted->spec) + submitted->spec.exchange.carry;
    truth.priority = submitted->spec.queue.priority;
    truth.parts.resize(FragmentCount(submitted->spec));
  } else if (const auto* opened = std::get_if<Opened>(&entry.record)) {
    Truth& truth = truth_[opened->job];
    // A9: only the newest attempt can still commit.
    truth.parts[opened->fragment.value()].open =
        opened->members.empty() ? Attempt() : Attempt(entry.index.value());
    truth.opened[entry.index.value()] = *opened;
    for (const Member& member : opened->members) {
      const uint64_t staleness =
          opened->sequence.value() - 1 - member.contribution.base.value();
      if (staleness > truth.staleness_max)
        Break("A5: a stale contribution is opened");
      if (truth.fate.contains(
              {member.life.value(), member.contribution.round.value()})) {
        Break("A3: a decided contribution is opened again");
      }
    }
  } else if (const auto* commit = std::get_if<Committed>(&entry.record)) {
    Truth& truth = truth_[commit->job];
    TruePart& part = truth.parts[commit->fragment.value()];
    if (part.open != commit->attempt) Break("A9: another attempt commits");
    if (Next(part.newest) != commit->sequence) Break("a sequence is skipped");
    part.newest = commit->sequence;
    part.open = Attempt();
    const Opened& opened = truth.opened[commit->attempt.value()];
    for (uint32_t span = 0; span < commit->hashes.size(); ++span) {
      if (commit->hashes[span] !=
          ResultHash(commit->attempt, opened.members, span)) {
        Break("A2: what is committed is not the sum over the members");
      }
    }
    for (const Member& member : opened.members) {
      const data::RangeSet& ranges = member.contribution.ranges;
      if (!part.covered.Intersect(ranges).empty()) {
        Break("A4: samples are committed twice");
      }
      part.covered = part.covered.Union(ranges);
      const bool fresh = truth.fate
                             .try_emplace({member.life.value(),
                                           member.contribution.round.value()},
                                          commit->attempt.value())
                             .second;
      if (!fresh) Break("A3: a contribution is committed twice");
    }
    part.anchors.push_back(Folded(part.anchors, commit->hashes));
  } else if (const auto* dropped = std::get_if<Dropped>(&entry.record)) {
    const bool fresh =
        truth_[dropped->job]
            .fate
            .try_emplace({dropped->life.value(), dropped->round.value()},
                         kDroppedFate)
            .second;
    if (!fresh) Break("4.4: a decided contribution is dropped");
  } else if (const auto* ended = std::get_if<JobEnded>(&entry.record)) {
    truth_[ended->job].ended = true;
  } else {
    CheckIntent(entry);
  }
}

void ScriptedWorld::CheckIntent(const Entry& entry) {
  if (const auto* paused = std::get_if<JobPaused>(&entry.record)) {
    truth_[paused->job].paused = paused->paused;
  } else if (const auto* marked = std::get_if<WorkerMarked>(&entry.record)) {
    intents_[marked->worker] = marked->intent;
  } else if (const auto* granted = std::get_if<Granted>(&entry.record)) {
    if (truth_[granted->job].paused) Break("a paused job gets samples");
  } else if (const auto* admitted =
                 std::get_if<ReplicaAdmitted>(&entry.record)) {
    for (const SpanHolder& holder : admitted->holders) {
      if (intents_[holder.peer.worker] != WorkerIntent::kServe) {
        Break("a worker that is not to serve joins a life");
      }
    }
    CheckTurn(*admitted);
  }
}

// Checks that it is the turn of the job. Requires: all jobs may use all
// islands.
void ScriptedWorld::CheckTurn(const ReplicaAdmitted& admitted) {
  Truth& own = truth_[admitted.job];
  const bool begins = own.begun_on.insert(admitted.island).second;
  size_t sharing = 0;
  size_t first = 0;
  for (const auto& [job, truth] : truth_) {
    if (truth.ended) continue;
    const bool there = truth.begun_on.contains(admitted.island);
    sharing += there ? 1 : 0;
    first += !there && (truth.priority > own.priority ||
                        (truth.priority == own.priority && job < admitted.job))
                 ? 1
                 : 0;
  }
  if (sharing > options_.seats_max) Break("too many jobs share an island");
  if (begins && sharing + first > options_.seats_max) {
    Break("a job begins before one whose turn it is");
  }
}

void ScriptedWorld::Send(FakeWorker& worker) {
  if (!worker.alive()) return;
  StatusFacts status = worker.Status();
  StatusFacts quiet = status;
  quiet.counter = 0;
  StatusFacts& last = last_status_[worker.name()];
  Instant& sent = last_sent_[worker.name()];
  if (quiet == last && now_ - sent < 0.3 * kLease) return;
  last = quiet;
  sent = now_;
  const int copies = 1 + (Faulty() && Chance(options_.repeat) ? 1 : 0);
  for (int i = 0; i < copies; ++i) {
    if (Faulty() && Chance(options_.lose)) continue;
    to_cluster_.push_back(
        {now_ + absl::Milliseconds(random_.Below(90)), worker.name(), status});
  }
}

void ScriptedWorld::Tell(const std::string& name) {
  const auto orders = OrdersOf(*cluster_, name, now_);
  if (!orders.ok()) return;
  const int copies = 1 + (Faulty() && Chance(options_.repeat) ? 1 : 0);
  for (int i = 0; i < copies; ++i) {
    if (Faulty() && Chance(options_.lose)) continue;
    to_workers_.push_back(
        {now_ + absl::Milliseconds(random_.Below(90)), name, *orders});
  }
}

void ScriptedWorld::Deliver() {
  std::vector<Mail<StatusFacts>> later;
  for (auto& mail : std::exchange(to_cluster_, {})) {
    if (mail.due > now_) {
      later.push_back(std::move(mail));
      continue;
    }
    const absl::Status status = cluster_->OnStatus(mail.content, now_);
    Flush();
    for (const auto& worker : workers_) {
      if (worker->name() != mail.worker) continue;
      if (absl::IsAborted(status) && worker->alive() &&
          worker->boot() == mail.content.boot) {
        worker->Start(random_, now_);
      } else if (!status.ok() && !absl::IsAborted(status)) {
        Break(absl::StrCat("Status is refused: ", status.message()));
      }
    }
    if (status.ok()) Tell(mail.worker);
  }
  to_cluster_.insert(to_cluster_.end(), later.begin(), later.end());
  std::vector<Mail<Orders>> waiting;
  for (auto& mail : std::exchange(to_workers_, {})) {
    if (mail.due > now_) {
      waiting.push_back(std::move(mail));
      continue;
    }
    for (const auto& worker : workers_) {
      if (worker->name() == mail.worker) {
        worker->OnOrders(mail.content, random_, now_);
      }
    }
  }
  to_workers_.insert(to_workers_.end(), waiting.begin(), waiting.end());
}

void ScriptedWorld::Operate() {
  for (const JobView& view : cluster_->ViewJobs(now_)) {
    if (view.phase > JobPhase::kRunning) continue;
    const bool resumes = !Faulty() && view.paused;
    if (!resumes && !(Faulty() && Chance(options_.pause))) continue;
    pauses_ += view.paused ? 0 : 1;
    const absl::Status status =
        cluster_->SetPaused(view.id, !view.paused, now_);
    // It may have ended since it was seen.
    if (!status.ok() && !absl::IsFailedPrecondition(status)) {
      Break(std::string(status.message()));
    }
    Flush();
  }
  constexpr WorkerIntent kIntents[] = {
      WorkerIntent::kServe, WorkerIntent::kCordon, WorkerIntent::kDrain};
  for (const WorkerView& view : cluster_->ViewWorkers(now_)) {
    const bool serves = view.intent == WorkerIntent::kServe;
    const bool forgiven = !Faulty() && !serves;
    if (!forgiven && !(Faulty() && Chance(options_.mark))) continue;
    const WorkerIntent intent =
        forgiven ? WorkerIntent::kServe : kIntents[random_.Below(3)];
    marks_ += intent == WorkerIntent::kServe ? 0 : 1;
    const absl::Status status = cluster_->SetIntent(view.worker, intent, now_);
    if (!status.ok()) Break(std::string(status.message()));
    Flush();
  }
}

void ScriptedWorld::Faults() {
  for (const auto& worker : workers_) {
    const std::string& name = worker->name();
    if (!worker->alive()) {
      if (restart_at_[name] <= now_) worker->Start(random_, now_);
      continue;
    }
    const bool leaves = worker->leaving() && worker->released();
    if (!leaves && !(Faulty() && Chance(options_.kill))) {
      if (Faulty() && Chance(options_.drain)) worker->Drain();
      continue;
    }
    ++kills_;
    const Boot boot = worker->boot();
    worker->Kill();
    restart_at_[name] = now_ + absl::Milliseconds(random_.Below(4000));
    if (Chance(0.8)) {
      cluster_->OnStreamLost(name, boot, now_);
      Flush();
    }
  }
  if (Faulty() && Chance(options_.crash)) {
    ++crashes_;
    Recover();
  }
}

}  // namespace skerry::coordinator
