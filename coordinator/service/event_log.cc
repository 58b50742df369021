#include "coordinator/service/event_log.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>

#include "coordinator/core/cluster.h"

namespace skerry::coordinator {

void EventLog::Add(const Entry& entry, Instant now) {
  if (const auto* ended = std::get_if<JobEnded>(&entry.record)) {
    ended_[ended->job] = entry.index;
    // Jobs are numbered as they come, so the lowest has been gone longest.
    if (ended_.size() > events_max_) ended_.erase(ended_.begin());
  }
  std::optional<EventView> event = EventOf(entry);
  if (!event.has_value()) return;
  if (events_.size() >= events_max_) events_.pop_front();
  events_.push_back({*std::move(event), now});
}

EventHistory EventLog::Save(size_t most) const {
  EventHistory saved;
  const size_t events = std::min(most, events_.size());
  for (auto it = events_.end() - static_cast<ptrdiff_t>(events);
       it != events_.end(); ++it) {
    saved.events.push_back(it->event);
  }
  const size_t ends = std::min(most, ended_.size());
  saved.ended.assign(
      std::next(ended_.begin(), static_cast<ptrdiff_t>(ended_.size() - ends)),
      ended_.end());
  return saved;
}

void EventLog::Restore(const EventHistory& saved, Instant now) {
  for (const EventView& event : saved.events) events_.push_back({event, now});
  ended_.insert(saved.ended.begin(), saved.ended.end());
}

bool EventLog::Belongs(const LoggedEvent& logged, JobId job) const {
  if (logged.event.job.is_set()) return logged.event.job == job;
  const auto ended = ended_.find(job);
  return logged.event.revision.value() > job.value() &&
         (ended == ended_.end() || logged.event.revision < ended->second);
}

const LoggedEvent* EventLog::Next(JobId job, Revision after) const {
  return FindAfter(
      after, [&](const LoggedEvent& logged) { return Belongs(logged, job); });
}

const LoggedEvent* EventLog::NextOfWorker(std::string_view worker,
                                          Revision after) const {
  return FindAfter(after, [&](const LoggedEvent& logged) {
    return logged.event.worker == worker;
  });
}

std::deque<LoggedEvent>::const_iterator EventLog::After(Revision after) const {
  return std::upper_bound(events_.begin(), events_.end(), after,
                          [](Revision seen, const LoggedEvent& logged) {
                            return seen < logged.event.revision;
                          });
}

std::vector<LoggedEvent> EventLog::Newest(Revision after, size_t most) const {
  std::vector<LoggedEvent> found;
  size_t routine = 0;
  size_t others = 0;
  const auto first = After(after);
  for (auto it = events_.end(); it != first && others < most;) {
    --it;
    size_t& count = IsRoutine(it->event) ? routine : others;
    if (count == most) continue;
    ++count;
    found.push_back(*it);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

const LoggedEvent* EventLog::FindAfter(
    Revision after, absl::FunctionRef<bool(const LoggedEvent&)> wanted) const {
  const auto it = std::find_if(After(after), events_.end(), wanted);
  return it == events_.end() ? nullptr : &*it;
}

bool EventLog::Ended(JobId job) const { return ended_.contains(job); }

}  // namespace skerry::coordinator
