#include "transport/directory.h"

#include <utility>

namespace skerry::transport {

void Directory::Learn(const Entries& entries) {
  Workers moved;
  for (const auto& [worker, endpoints] : entries) {
    if (endpoints.empty()) continue;
    const std::string before = PlaceOf(worker);
    std::vector<std::string>& known = entries_[worker];
    if (known == endpoints) continue;
    known = endpoints;
    chosen_.erase(worker);
    if (before != endpoints.front()) moved.insert(worker);
  }
  TellMoved(std::move(moved));
}

void Directory::TellMoved(Workers moved) {
  if (!moved_) return;
  for (const auto& [worker, endpoints] : entries_) {
    if (moved.contains(RelayOf(worker))) moved.insert(worker);
  }
  // Relays come first: connections to those behind them go to the new place.
  for (const bool is_relayed : {false, true}) {
    for (const std::string& worker : moved) {
      if (RelayOf(worker).empty() != is_relayed) moved_(worker);
    }
  }
}

std::string Directory::FirstOf(const std::string& worker) const {
  const auto it = entries_.find(worker);
  return it == entries_.end() ? "" : it->second.front();
}

std::string Directory::PlaceOf(const std::string& worker) const {
  const auto chosen = chosen_.find(worker);
  return chosen == chosen_.end() ? FirstOf(worker)
                                 : entries_.at(worker)[chosen->second];
}

std::string Directory::EndpointOf(const std::string& worker) const {
  if (IsReverse(worker) || !RelayOf(worker).empty()) return "";
  return PlaceOf(worker);
}

bool Directory::HasChoice(const std::string& worker) const {
  return !EndpointOf(worker).empty() && entries_.at(worker).size() > 1;
}

void Directory::OnFailed(const std::string& worker,
                         const std::string& endpoint) {
  if (!HasChoice(worker) || EndpointOf(worker) != endpoint) return;
  size_t& chosen = chosen_[worker];
  chosen = (chosen + 1) % entries_.at(worker).size();
  TellMoved({worker});
}

bool Directory::IsReverse(const std::string& worker) const {
  return FirstOf(worker) == protocol::kReverse;
}

std::string Directory::RelayOf(const std::string& worker) const {
  return std::string(protocol::RelayIn(FirstOf(worker)));
}

void Directory::SetRelayed(protocol::RelayedPairs pairs) {
  if (pairs == relayed_) return;
  relayed_ = std::move(pairs);
  if (relayed_changed_) relayed_changed_();
}

void Directory::SetAwaitedBy(Workers workers) {
  if (workers == awaited_by_) return;
  awaited_by_ = std::move(workers);
  if (awaited_) awaited_();
}

}  // namespace skerry::transport
