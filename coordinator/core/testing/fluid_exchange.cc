#include "coordinator/core/testing/fluid_exchange.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace skerry::coordinator::testing {

FluidExchange::FluidExchange(const Cluster& cluster,
                             const std::vector<double>& bytes_per_element,
                             const std::vector<uint32_t>& codecs,
                             Results results)
    : cluster_(cluster),
      bytes_per_element_(bytes_per_element),
      codecs_(codecs),
      results_(results),
      awaited_(cluster.size(), 0),
      decoder_free_(cluster.size(), 0.0) {}

double FluidExchange::Seconds() {
  const size_t count = cluster_.size();
  for (size_t i = 0; i < count; ++i) {
    double contributed = 0.0;
    for (size_t j = 0; j < count; ++j) {
      if (j != i) contributed += cluster_[j].owned;
    }
    const double encoded = contributed / cluster_[i].encode[codecs_[i]];
    for (size_t j = 0; j < count; ++j) {
      if (j == i) continue;
      ++awaited_[j];
      Add(i, j, j, encoded, /*is_result=*/false);
    }
  }
  while (Step()) {
  }
  return end_;
}

void FluidExchange::Add(size_t from, size_t to, size_t owner, double at,
                        bool is_result) {
  const double elements = cluster_[owner].owned;
  flows_.push_back({from, to, elements, is_result, at,
                    elements * bytes_per_element_[codecs_[from]]});
}

bool FluidExchange::IsBehind(const Flow& flow) const {
  return flow.is_result &&
         std::any_of(flows_.begin(), flows_.end(), [&](const Flow& other) {
           return !other.is_result && other.from == flow.from &&
                  other.to == flow.to && other.state < State::kTravels;
         });
}

double FluidExchange::Rate(const Flow& flow) const {
  double out = 0.0;
  double in = 0.0;
  for (const Flow& other : flows_) {
    if (other.state != State::kFlows) continue;
    out += other.from == flow.from ? 1.0 : 0.0;
    in += other.to == flow.to ? 1.0 : 0.0;
  }
  return std::min(cluster_[flow.from].up / out, cluster_[flow.to].down / in);
}

bool FluidExchange::Step() {
  for (Flow& flow : flows_) {
    if (flow.state == State::kWaits && flow.at <= now_ && !IsBehind(flow)) {
      flow.state = State::kFlows;
    }
  }
  std::vector<double> moments(flows_.size());
  double next = std::numeric_limits<double>::infinity();
  for (size_t f = 0; f < flows_.size(); ++f) {
    const Flow& flow = flows_[f];
    if (flow.state == State::kArrived) continue;
    moments[f] = flow.state == State::kFlows
                     ? now_ + flow.bytes_left / Rate(flow)
                     : flow.at;
    // One behind another has no moment of its own.
    if (flow.state != State::kWaits || flow.at > now_) {
      next = std::min(next, moments[f]);
    }
  }
  if (std::isinf(next)) return false;
  Advance(next, moments);
  return true;
}

void FluidExchange::Advance(double next, const std::vector<double>& moments) {
  for (size_t f = 0; f < moments.size(); ++f) {
    Flow& flow = flows_[f];
    if (flow.state == State::kFlows) {
      // Whose moment it is ends, whatever subtraction would leave of it.
      if (moments[f] <= next) {
        flow.state = State::kTravels;
        flow.at = next + cluster_[flow.from].one_way[flow.to];
      } else {
        flow.bytes_left *= (moments[f] - next) / (moments[f] - now_);
      }
    } else if (flow.state == State::kTravels && flow.at <= next) {
      flow.state = State::kArrived;
      arrived_.push_back(f);
    }
  }
  now_ = next;
  for (const size_t f : arrived_) Take(flows_[f]);
  arrived_.clear();
}

void FluidExchange::Take(Flow flow) {
  double& free = decoder_free_[flow.to];
  free = std::max(free, now_) +
         flow.elements / cluster_[flow.to].decode[codecs_[flow.from]];
  if (flow.is_result) {
    end_ = std::max(end_, free);
    return;
  }
  if (--awaited_[flow.to] > 0) return;
  if (results_ == Results::kWhenReady) return SendResults(flow.to, free);
  ready_.push_back(flow.to);
  if (ready_.size() < cluster_.size()) return;
  const double last =
      *std::max_element(decoder_free_.begin(), decoder_free_.end());
  for (const size_t owner : ready_) SendResults(owner, last);
}

void FluidExchange::SendResults(size_t owner, double at) {
  const double encoded =
      at + cluster_[owner].owned / cluster_[owner].encode[codecs_[owner]];
  for (size_t j = 0; j < cluster_.size(); ++j) {
    if (j != owner) Add(owner, j, owner, encoded, /*is_result=*/true);
  }
}

}  // namespace skerry::coordinator::testing
