#include "transport/send_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::transport {
namespace {

size_t IndexOf(TrafficClass traffic_class) {
  return static_cast<size_t>(traffic_class);
}

}  // namespace

void SendQueue::Push(Frame frame, TrafficClass traffic_class,
                     BulkTransport::SendDone done) {
  SKERRY_CHECK(HasRoom());
  const Ticket ticket = next_ticket_++;
  Entry& entry = entries_[ticket];
  entry.frame = std::move(frame);
  entry.traffic_class = traffic_class;
  entry.done = std::move(done);
  flows_[KeyOf(entry)].waiting.insert(ticket);
}

// A flow that backed off shows with one frame that it is wanted again.
bool SendQueue::MayGo(const FlowState& flow, Instant now) {
  if (flow.waiting.empty() || flow.held || now < flow.not_before) return false;
  return flow.backoff == absl::ZeroDuration() || flow.unanswered == 0;
}

SendQueue::Flows::const_iterator SendQueue::Choose(TrafficClass traffic_class,
                                                   Instant now) const {
  auto best = flows_.end();
  for (auto it = flows_.lower_bound({traffic_class, Flow()});
       it != flows_.end() && it->first.traffic_class == traffic_class; ++it) {
    if (!MayGo(it->second, now)) continue;
    if (best == flows_.end() ||
        *it->second.waiting.begin() < *best->second.waiting.begin()) {
      best = it;
    }
  }
  if (best == flows_.end()) return best;
  const Entry& entry = entries_.at(*best->second.waiting.begin());
  const uint64_t unanswered = unanswered_bytes_[IndexOf(traffic_class)];
  const bool fits = unanswered + entry.frame.payload.size() <=
                    options_.unanswered_bytes_max[IndexOf(traffic_class)];
  if (unanswered > 0 && !fits) return flows_.end();
  const bool passes =
      traffic_class != TrafficClass::kBulk || under_way_bytes_ == 0 ||
      under_way_bytes_ + entry.frame.payload.size() <= under_way_bytes_max_;
  return passes ? best : flows_.end();
}

bool SendQueue::CanSend(TrafficClass traffic_class, Instant now) const {
  return Choose(traffic_class, now) != flows_.end();
}

bool SendQueue::HasWaiting(TrafficClass traffic_class) const {
  for (auto it = flows_.lower_bound({traffic_class, Flow()});
       it != flows_.end() && it->first.traffic_class == traffic_class; ++it) {
    if (!it->second.waiting.empty()) return true;
  }
  return false;
}

std::optional<SendQueue::Outgoing> SendQueue::Next(TrafficClass traffic_class,
                                                   Instant now) {
  const auto chosen = Choose(traffic_class, now);
  if (chosen == flows_.end()) return std::nullopt;
  FlowState& flow = flows_.at(chosen->first);
  const Ticket ticket = *flow.waiting.begin();
  flow.waiting.erase(flow.waiting.begin());
  ++flow.unanswered;
  Entry& entry = entries_.at(ticket);
  entry.unanswered = true;
  const uint64_t bytes = entry.frame.payload.size();
  unanswered_bytes_[IndexOf(traffic_class)] += bytes;
  if (traffic_class == TrafficClass::kBulk) {
    under_way_bytes_ += bytes;
    entry.under_way = true;
  }
  ++counters_.frames_sent;
  counters_.payload_bytes_sent += bytes;
  if (entry.was_sent) ++counters_.frames_resent;
  entry.was_sent = true;
  return Outgoing{ticket, &entry.frame};
}

std::optional<Instant> SendQueue::NextWork(Instant now) const {
  std::optional<Instant> next;
  for (const auto& [key, flow] : flows_) {
    if (flow.waiting.empty() || flow.held || flow.not_before <= now) continue;
    if (!next.has_value() || flow.not_before < *next) next = flow.not_before;
  }
  return next;
}

void SendQueue::Detach(Ticket ticket, const Entry& entry) {
  const auto it = flows_.find(KeyOf(entry));
  FlowState& flow = it->second;
  if (entry.unanswered) {
    --flow.unanswered;
    unanswered_bytes_[IndexOf(entry.traffic_class)] -=
        entry.frame.payload.size();
  } else {
    flow.waiting.erase(ticket);
  }
  if (flow.waiting.empty() && flow.unanswered == 0) flows_.erase(it);
}

void SendQueue::Requeue(Ticket ticket, Entry& entry) {
  FlowState& flow = flows_.at(KeyOf(entry));
  flow.waiting.insert(ticket);
  flow.held = false;
  Detach(ticket, entry);
  entry.unanswered = false;
}

SendQueue::Finished SendQueue::Finish(Entries::iterator it,
                                      absl::Status status) {
  Detach(it->first, it->second);
  Finished finished{std::move(it->second.done), std::move(status)};
  entries_.erase(it);
  return finished;
}

// Answers to frames that were under way together count as one refusal.
void SendQueue::BackOff(FlowState& flow, Instant now) {
  if (now < flow.not_before) return;
  flow.backoff =
      std::clamp(2 * flow.backoff, options_.retry_min, options_.retry_max);
  flow.not_before = now + flow.backoff * (0.5 + 0.5 * random_.Uniform());
}

void SendQueue::EndWay(Ticket ticket) {
  if (const auto it = forgotten_.find(ticket); it != forgotten_.end()) {
    under_way_bytes_ -= it->second;
    forgotten_.erase(it);
  }
  const auto it = entries_.find(ticket);
  if (it == entries_.end() || !std::exchange(it->second.under_way, false)) {
    return;
  }
  under_way_bytes_ -= it->second.frame.payload.size();
}

std::optional<SendQueue::Finished> SendQueue::OnAnswer(Ticket ticket,
                                                       Answer answer,
                                                       Instant now) {
  EndWay(ticket);
  const auto it = entries_.find(ticket);
  if (it == entries_.end() || !it->second.unanswered) return std::nullopt;
  Entry& entry = it->second;
  FlowState& flow = flows_.at(KeyOf(entry));
  if (answer == Answer::kHeld) {
    flow.held = true;
    return std::nullopt;
  }
  flow.held = false;
  switch (answer) {
    case Answer::kAccepted:
    case Answer::kRefused:
      flow.backoff = absl::ZeroDuration();
      flow.not_before = Instant();
      break;
    case Answer::kNotYet:
      ++counters_.frames_not_yet;
      BackOff(flow, now);
      Requeue(ticket, entry);
      return std::nullopt;
    case Answer::kCorrupt:
      ++counters_.frames_corrupt;
      if (++entry.corrupt < options_.corrupt_max) {
        Requeue(ticket, entry);
        return std::nullopt;
      }
      return Finish(it, absl::DataLossError(absl::StrCat(
                            "the frame's checksum failed ",
                            options_.corrupt_max, " times at the receiver")));
    case Answer::kHeld:
      break;
  }
  if (answer == Answer::kRefused) {
    ++counters_.frames_refused;
    return Finish(it, absl::AbortedError("the receiver refused the frame"));
  }
  ++counters_.frames_accepted;
  return Finish(it, absl::OkStatus());
}

void SendQueue::OnLost(std::span<const Ticket> tickets) {
  for (const Ticket ticket : tickets) {
    EndWay(ticket);
    const auto it = entries_.find(ticket);
    if (it != entries_.end() && it->second.unanswered) {
      Requeue(ticket, it->second);
    }
  }
}

std::vector<SendQueue::Finished> SendQueue::ForgetBefore(uint64_t job,
                                                         uint32_t fragment,
                                                         uint64_t attempt) {
  std::vector<Finished> finished;
  for (auto it = entries_.begin(); it != entries_.end();) {
    const compression::FrameHeader& header = it->second.frame.header;
    if (header.job != job || header.fragment != fragment ||
        header.attempt >= attempt) {
      ++it;
      continue;
    }
    const Ticket ticket = it->first;
    if (it->second.under_way) {
      forgotten_[ticket] = it->second.frame.payload.size();
    }
    finished.push_back(
        Finish(it, absl::CancelledError("a newer attempt has replaced it")));
    it = entries_.upper_bound(ticket);
  }
  return finished;
}

}  // namespace skerry::transport
