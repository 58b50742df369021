#include "transport/receive_gate.h"

#include <algorithm>
#include <utility>

namespace skerry::transport {
namespace {

// Requires: the verdict is final.
Answer OnTheWire(FrameVerdict verdict) {
  return verdict == FrameVerdict::kAccepted ? Answer::kAccepted
                                            : Answer::kRefused;
}

}  // namespace

FrameVerdict ReceiveGate::Ask(const compression::FrameHeader& header,
                              const SharedBytes& payload) {
  const FrameVerdict verdict = receiver_.OnFrame(from_, header, payload);
  if (verdict == FrameVerdict::kRefused) ++counters_.frames_refused;
  return verdict;
}

Answer ReceiveGate::Keep(Kept kept, Instant now) {
  if (held_bytes_ + kept.payload.size() > options_.held_bytes_max) {
    return Answer::kNotYet;
  }
  held_bytes_ += kept.payload.size();
  KeptFlow& flow = kept_[FlowOf(kept.header)];
  if (flow.frames.empty()) {
    flow.since = now;
    flow.backoff = options_.retry_min;
    flow.next_try = now + flow.backoff;
  }
  flow.frames.push_back(std::move(kept));
  return Answer::kHeld;
}

Answer ReceiveGate::Offer(uint64_t ordinal,
                          const compression::FrameHeader& header,
                          SharedBytes payload, Instant now) {
  ++counters_.frames_received;
  counters_.payload_bytes_received += payload.size();
  // Behind kept frames of its flow, so that the order stays.
  if (!kept_.contains(FlowOf(header))) {
    const FrameVerdict verdict = Ask(header, payload);
    if (verdict != FrameVerdict::kNotYet) return OnTheWire(verdict);
  }
  ++counters_.frames_held;
  return Keep({ordinal, header, std::move(payload)}, now);
}

void ReceiveGate::OfferAgain(KeptFlow& flow, Instant now,
                             std::vector<Answered>& answers) {
  while (!flow.frames.empty()) {
    const Kept& kept = flow.frames.front();
    const FrameVerdict verdict = Ask(kept.header, kept.payload);
    const bool is_wanted = verdict != FrameVerdict::kNotYet;
    if (!is_wanted && now - flow.since < options_.held_max) {
      flow.backoff = std::min(2 * flow.backoff, options_.retry_max);
      flow.next_try = now + flow.backoff;
      return;
    }
    if (!is_wanted) break;
    answers.push_back({kept.ordinal, OnTheWire(verdict)});
    held_bytes_ -= kept.payload.size();
    flow.frames.pop_front();
  }
  for (const Kept& kept : flow.frames) {
    answers.push_back({kept.ordinal, Answer::kNotYet});
    held_bytes_ -= kept.payload.size();
  }
  flow.frames.clear();
}

std::vector<Answered> ReceiveGate::Reoffer(uint64_t job, uint32_t fragment,
                                           Instant now) {
  std::vector<Answered> answers;
  auto it = kept_.lower_bound({job, fragment, 0});
  while (it != kept_.end() && it->first.job == job &&
         it->first.fragment == fragment) {
    OfferAgain(it->second, now, answers);
    it = it->second.frames.empty() ? kept_.erase(it) : std::next(it);
  }
  return answers;
}

std::vector<Answered> ReceiveGate::Retry(Instant now) {
  std::vector<Answered> answers;
  for (auto it = kept_.begin(); it != kept_.end();) {
    if (it->second.next_try <= now) OfferAgain(it->second, now, answers);
    it = it->second.frames.empty() ? kept_.erase(it) : std::next(it);
  }
  return answers;
}

std::optional<Instant> ReceiveGate::NextWork() const {
  std::optional<Instant> next;
  for (const auto& [key, flow] : kept_) {
    if (!next.has_value() || flow.next_try < *next) next = flow.next_try;
  }
  return next;
}

}  // namespace skerry::transport
