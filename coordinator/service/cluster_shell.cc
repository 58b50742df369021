#include "coordinator/service/cluster_shell.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "coordinator/service/journal_codec.h"
#include "runtime/log.h"

namespace skerry::coordinator {
namespace {

// Orders of a job with 1,000 workers take 0.2 ms each, and a call should wait
// for a few milliseconds at most.
constexpr size_t kDeliveredAtOnce = 16;

}  // namespace

ClusterShell::ClusterShell(const ClusterOptions& options,
                           runtime::EventLoop& loop, Journal& journal,
                           const CompactionRule& rule)
    : loop_(loop),
      journal_(journal),
      cluster_(options),
      lease_(options.lease),
      clock_(options.lease, loop.Now()),
      rule_(rule) {}

absl::Status ClusterShell::Restore() {
  SKERRY_ASSIGN_OR_RETURN(const std::optional<JournalSnapshot> durable,
                          journal_.ReadSnapshot());
  if (!durable.has_value()) return absl::OkStatus();
  const absl::StatusOr<SavedCluster> saved = SnapshotFromJournal(*durable);
  absl::Status restored = saved.status();
  if (restored.ok()) restored = cluster_.Restore(saved->state);
  if (!restored.ok()) {
    return absl::DataLossError(absl::StrCat(
        "the journal's snapshot at record ", durable->index.value(),
        " cannot be used: ", restored.message()));
  }
  counted_.snapshot_bytes = durable->payload.size();
  if (observer_ != nullptr) observer_->OnRestored(saved->events, Now());
  return absl::OkStatus();
}

void ClusterShell::CountTail(const JournalEntry& entry) {
  ++counted_.tail_records;
  counted_.tail_bytes += entry.payload.size();
}

absl::Status ClusterShell::Recover() {
  SKERRY_RETURN_IF_ERROR(Restore());
  std::vector<Entry> history;
  SKERRY_RETURN_IF_ERROR(
      journal_.Read([&](const JournalEntry& durable) -> absl::Status {
        absl::StatusOr<Entry> entry = EntryFromJournal(durable);
        absl::Status read = entry.status();
        if (read.ok()) read = cluster_.Apply(*entry);
        if (!read.ok()) {
          return absl::DataLossError(
              absl::StrCat("record ", durable.index.value(),
                           " of the journal cannot be used: ", read.message()));
        }
        CountTail(durable);
        history.push_back(*std::move(entry));
        return absl::OkStatus();
      }));
  // To fold the journal is not to sleep.
  clock_ = AwakeClock(lease_, loop_.Now());
  cluster_.Recovered(Now());
  replayed_ = std::move(history);
  KeepTurning();
  PumpSoon();
  return absl::OkStatus();
}

Instant ClusterShell::Turn() {
  const absl::Duration slept = clock_.Turn(loop_.Now());
  if (slept > absl::ZeroDuration()) {
    runtime::Log(runtime::Severity::kWarning, "coordinator.slept",
                 {{"seconds", absl::ToDoubleSeconds(slept)}});
    cluster_.GiveLeases(Now());
  }
  return Now();
}

void ClusterShell::KeepTurning() {
  if (clock_stopped_) return;
  Turn();
  loop_.RunAt(loop_.Now() + clock_.interval(), [this] { KeepTurning(); });
}

void ClusterShell::Do(Fact fact) {
  waiting_.push_back(std::move(fact));
  PumpSoon();
}

void ClusterShell::Look(Settled view) {
  Do([view = std::move(view)](Cluster&, Instant) mutable {
    return std::move(view);
  });
}

void ClusterShell::LookSoon(Settled view) {
  if (durable_) {
    std::move(view)(cluster_, Turn());
  } else {
    looking_.push_back(std::move(view));
  }
}

// Behind whatever the loop already has, so that facts which arrived together
// share a batch.
void ClusterShell::PumpSoon() {
  if (pump_posted_ || syncing_) return;
  pump_posted_ = true;
  loop_.Post([this] { Pump(); });
}

void ClusterShell::Pump() {
  pump_posted_ = false;
  // A snapshot has come first; its end pumps again.
  if (syncing_) return;
  SKERRY_CHECK(settling_.empty());
  const Instant now = Turn();
  durable_ = false;
  std::deque<Fact> facts = std::exchange(waiting_, {});
  for (Fact& fact : facts) {
    settling_.push_back(std::move(fact)(cluster_, now));
  }
  std::vector<Entry> records = cluster_.TakeRecords();
  if (records.empty()) {
    Settle({});
  } else {
    Append(std::move(records));
  }
}

void ClusterShell::Append(std::vector<Entry> records) {
  std::vector<JournalEntry> batch;
  batch.reserve(records.size());
  for (const Entry& entry : records) {
    batch.push_back(EntryToJournal(entry));
    CountTail(batch.back());
  }
  syncing_ = true;
  journal_.Append(std::move(batch), [this, begun = loop_.Now(),
                                     records = std::move(records)]() mutable {
    syncing_ = false;
    const absl::Duration took = loop_.Now() - begun;
    counted_.syncing += took;
    Turn();
    // What workers said meanwhile still waits to be taken in.
    if (took > clock_.longest_turn()) cluster_.GiveLeases(Now());
    ++counted_.batches;
    counted_.records += records.size();
    Settle(std::move(records));
  });
}

void ClusterShell::Settle(std::vector<Entry> fresh) {
  const Instant now = Turn();
  durable_ = true;
  for (Settled& view : std::exchange(looking_, {})) {
    std::move(view)(cluster_, now);
  }
  const bool has_news =
      !settling_.empty() || !fresh.empty() || !replayed_.empty();
  settles_now_ = true;
  for (Settled& settled : std::exchange(settling_, {})) {
    std::move(settled)(cluster_, now);
  }
  settles_now_ = false;
  for (std::string& worker : cluster_.TakeTouched()) {
    touched_.insert(std::move(worker));
  }
  DeliverOrders();
  CountRounds(fresh);
  if (observer_ != nullptr && has_news) {
    std::vector<Entry> all = std::exchange(replayed_, {});
    all.insert(all.end(), std::make_move_iterator(fresh.begin()),
               std::make_move_iterator(fresh.end()));
    observer_->OnSettled(cluster_, now, all, cluster_.TakeAnswers());
  }
  ArmTimer();
  if (CompactionDue()) {
    Compact();
    return;
  }
  if (!waiting_.empty()) {
    PumpSoon();
    return;
  }
  for (runtime::Task& task : std::exchange(when_idle_, {})) std::move(task)();
}

void ClusterShell::CountRounds(std::span<const Entry> fresh) {
  const Instant now = Now();
  for (const Entry& entry : fresh) {
    if (const auto* commit = std::get_if<Committed>(&entry.record)) {
      const auto [it, first] =
          counted_.rounds.try_emplace(commit->job, ShellFacts::Round{now, {}});
      if (first) continue;
      it->second = {now, now - it->second.committed};
    } else if (const auto* ended = std::get_if<JobEnded>(&entry.record)) {
      counted_.rounds.erase(ended->job);
    }
  }
}

ShellFacts ClusterShell::Counted() const {
  ShellFacts facts = counted_;
  facts.facts_waiting = waiting_.size();
  facts.streams = streams_.size();
  return facts;
}

bool ClusterShell::CompactionDue() const {
  return counted_.tail_records >= rule_.records_min &&
         static_cast<double>(counted_.tail_bytes) >=
             rule_.bytes_ratio_min *
                 static_cast<double>(counted_.snapshot_bytes);
}

// Facts wait meanwhile, as they do for a batch.
void ClusterShell::Compact() {
  const Instant begun = loop_.Now();
  JournalSnapshot snapshot = SnapshotToJournal(
      cluster_.Save(),
      observer_ != nullptr ? observer_->SaveEvents() : EventHistory());
  counted_.snapshot_bytes = snapshot.payload.size();
  counted_.tail_records = 0;
  counted_.tail_bytes = 0;
  syncing_ = true;
  journal_.Compact(std::move(snapshot), [this, begun] {
    syncing_ = false;
    counted_.snapshotting += loop_.Now() - begun;
    ++counted_.snapshots;
    PumpSoon();
  });
}

void ClusterShell::Attach(const std::string& worker, OrdersStream& stream) {
  streams_[worker] = &stream;
}

void ClusterShell::Detach(const std::string& worker,
                          const OrdersStream& stream) {
  const auto it = streams_.find(worker);
  if (it != streams_.end() && it->second == &stream) streams_.erase(it);
}

void ClusterShell::Touch(const std::string& worker) {
  touched_.insert(worker);
  if (!settles_now_) PumpSoon();
}

void ClusterShell::StreamReady(const std::string& worker) {
  if (touched_.contains(worker)) PumpSoon();
}

// A commit touches every worker. Their orders go out in parts, and what has
// come in meanwhile has its turn between them.
void ClusterShell::DeliverOrders() {
  std::vector<std::string> ready;
  bool more = false;
  // Goes on behind the last one, so that no name is always behind the others.
  auto it = touched_.upper_bound(delivered_to_);
  for (size_t left = touched_.size(); left > 0; --left) {
    if (it == touched_.end()) it = touched_.begin();
    const auto stream = streams_.find(*it);
    if (stream == streams_.end()) {
      // Its first Status on a new stream touches it again.
      it = touched_.erase(it);
    } else if (!stream->second->ready()) {
      ++it;
    } else if (ready.size() == kDeliveredAtOnce) {
      more = true;
      break;
    } else {
      ready.push_back(*it);
      it = touched_.erase(it);
    }
  }
  if (!ready.empty()) delivered_to_ = ready.back();
  cluster_.WriteOrders(ready, Now(),
                       [this](const std::string& worker, Orders orders) {
                         if (add_orders_) add_orders_(worker, orders);
                         streams_.at(worker)->Send(orders);
                       });
  if (!more || delivery_posted_) return;
  delivery_posted_ = true;
  loop_.Post([this] {
    delivery_posted_ = false;
    // The end of the batch delivers.
    if (!syncing_) DeliverOrders();
  });
}

void ClusterShell::ArmTimer() {
  const std::optional<Instant> next = cluster_.NextDeadline();
  if (!next.has_value()) return;
  if (armed_for_.has_value() && *armed_for_ <= *next) return;
  armed_for_ = next;
  loop_.RunAt(clock_.ToLoop(*next), [this, when = *next] { OnTimer(when); });
}

void ClusterShell::OnTimer(Instant when) {
  // One that an earlier deadline has replaced.
  if (armed_for_ != when) return;
  armed_for_.reset();
  if (clock_stopped_) return;
  Do([](Cluster& cluster, Instant now) -> Settled {
    cluster.Tick(now);
    return [](const Cluster&, Instant) {};
  });
}

void ClusterShell::WhenIdle(runtime::Task task) {
  when_idle_.push_back(std::move(task));
  PumpSoon();
}

}  // namespace skerry::coordinator
