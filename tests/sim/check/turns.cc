#include "tests/sim/check/turns.h"

#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"

namespace skerry::sim {

using coordinator::WorkerIntent;

void TurnChecker::OnJournalReplaced(Revision last) {
  const std::vector<coordinator::Entry> all = std::exchange(entries_, {});
  jobs_.clear();
  intents_.clear();
  for (const coordinator::Entry& entry : all) {
    if (entry.index <= last) OnDurable(entry);
  }
}

void TurnChecker::OnDurable(const coordinator::Entry& entry) {
  entries_.push_back(entry);
  Take(entry);
}

void TurnChecker::Take(const coordinator::Entry& entry) {
  if (const auto* job = std::get_if<coordinator::JobSubmitted>(&entry.record)) {
    jobs_[JobId(entry.index.value())].priority = job->spec.queue.priority;
  } else if (const auto* end =
                 std::get_if<coordinator::JobEnded>(&entry.record)) {
    jobs_[end->job].ended = true;
  } else if (const auto* held =
                 std::get_if<coordinator::JobPaused>(&entry.record)) {
    jobs_[held->job].paused = held->paused;
  } else if (const auto* mark =
                 std::get_if<coordinator::WorkerMarked>(&entry.record)) {
    intents_[mark->worker] = mark->intent;
  } else if (const auto* granted =
                 std::get_if<coordinator::Granted>(&entry.record)) {
    if (jobs_[granted->job].paused) {
      out_.Add(absl::StrCat("turns: job ", granted->job.value(),
                            " is held and gets samples"));
    }
  } else if (const auto* admitted =
                 std::get_if<coordinator::ReplicaAdmitted>(&entry.record)) {
    CheckAdmitted(*admitted);
  }
}

void TurnChecker::CheckAdmitted(const coordinator::ReplicaAdmitted& record) {
  for (const protocol::SpanHolder& holder : record.holders) {
    const auto intent = intents_.find(holder.peer.worker);
    if (intent != intents_.end() && intent->second != WorkerIntent::kServe) {
      out_.Add(absl::StrCat("turns: worker ", holder.peer.worker,
                            " is not to serve and joins a life of job ",
                            record.job.value()));
    }
  }
  Job& own = jobs_[record.job];
  const bool begins = own.begun_on.insert(record.island).second;
  size_t sharing = 0;
  size_t first = 0;
  for (const auto& [id, job] : jobs_) {
    if (job.ended) continue;
    const bool there = job.begun_on.contains(record.island);
    const bool goes_first = job.priority > own.priority ||
                            (job.priority == own.priority && id < record.job);
    sharing += there ? 1 : 0;
    first += !there && goes_first ? 1 : 0;
  }
  if (sharing > seats_max_) {
    out_.Add(
        absl::StrCat("turns: ", sharing, " jobs share island ", record.island));
  }
  if (begins && sharing + first > seats_max_) {
    out_.Add(absl::StrCat("turns: job ", record.job.value(),
                          " begins on island ", record.island, " before ",
                          first, " job(s) whose turn it is"));
  }
}

}  // namespace skerry::sim
