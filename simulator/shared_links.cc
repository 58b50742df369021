#include "simulator/shared_links.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"

namespace skerry::sim {
namespace {

// What is left of a message by rounding.
constexpr double kBytesLeft = 1e-3;

}  // namespace

SharedLinks::LinkId SharedLinks::AddLink(double bytes_per_s) {
  SKERRY_CHECK(bytes_per_s > 0);
  links_.push_back(bytes_per_s);
  return static_cast<LinkId>(links_.size() - 1);
}

SharedLinks::FlowId SharedLinks::Open(std::vector<LinkId> path) {
  flows_[++opened_].path = std::move(path);
  return opened_;
}

void SharedLinks::Send(FlowId id, double bytes, Timeline::Task left) {
  Flow& flow = flows_.at(id);
  if (flow.path.empty()) {
    timeline_.After(absl::ZeroDuration(), std::move(left));
    return;
  }
  Advance();
  flow.waiting.push_back({bytes, std::move(left)});
  if (flow.waiting.size() == 1) Share();
}

void SharedLinks::Close(FlowId id) {
  const auto flow = flows_.find(id);
  if (flow == flows_.end()) return;
  const bool busy = !flow->second.waiting.empty();
  if (busy) Advance();
  flows_.erase(flow);
  if (busy) Share();
}

void SharedLinks::Advance() {
  const double passed = absl::ToDoubleSeconds(timeline_.now() - advanced_to_);
  advanced_to_ = timeline_.now();
  if (passed <= 0) return;
  for (auto& [id, flow] : flows_) {
    if (flow.waiting.empty()) continue;
    flow.waiting.front().bytes -= flow.rate * passed;
  }
}

// Fills all flows alike until a link is full; those on it have what they get,
// and the others go on.
void SharedLinks::Share() {
  std::vector<double> room = links_;
  std::vector<uint32_t> open(links_.size());
  std::vector<Flow*> rising;
  for (auto& [id, flow] : flows_) {
    if (flow.waiting.empty()) continue;
    rising.push_back(&flow);
    for (const LinkId link : flow.path) ++open[link];
  }
  while (!rising.empty()) {
    double share = std::numeric_limits<double>::infinity();
    LinkId full = 0;
    for (LinkId link = 0; link < links_.size(); ++link) {
      if (open[link] == 0 || room[link] / open[link] >= share) continue;
      share = room[link] / open[link];
      full = link;
    }
    std::erase_if(rising, [&](Flow* flow) {
      if (std::find(flow->path.begin(), flow->path.end(), full) ==
          flow->path.end()) {
        return false;
      }
      flow->rate = share;
      for (const LinkId link : flow->path) {
        room[link] = std::max(0.0, room[link] - share);
        --open[link];
      }
      return true;
    });
  }
  Arm();
}

void SharedLinks::Arm() {
  double wait = std::numeric_limits<double>::infinity();
  for (const auto& [id, flow] : flows_) {
    if (flow.waiting.empty()) continue;
    wait =
        std::min(wait, std::max(0.0, flow.waiting.front().bytes) / flow.rate);
  }
  ++armed_;
  if (!std::isfinite(wait)) return;
  // One more, so that the message has ended then in spite of rounding.
  timeline_.After(absl::Seconds(wait) + absl::Nanoseconds(1),
                  [this, own = armed_] {
                    if (own == armed_) OnTime();
                  });
}

void SharedLinks::OnTime() {
  Advance();
  bool changed = false;
  std::vector<Timeline::Task> ended;
  for (auto& [id, flow] : flows_) {
    if (flow.waiting.empty()) continue;
    double over = flow.waiting.front().bytes;
    while (!flow.waiting.empty() && over <= kBytesLeft) {
      ended.push_back(std::move(flow.waiting.front().left));
      flow.waiting.pop_front();
      // The next one has had what was too much for the last.
      if (!flow.waiting.empty()) over += flow.waiting.front().bytes;
    }
    if (flow.waiting.empty()) {
      changed = true;
    } else {
      flow.waiting.front().bytes = over;
    }
  }
  if (changed) {
    Share();
  } else {
    Arm();
  }
  for (Timeline::Task& left : ended) std::move(left)();
}

}  // namespace skerry::sim
