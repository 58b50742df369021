#include "transport/directory.h"

#include "protocol/peers.h"

namespace skerry::transport {

void Directory::Learn(const Entries& entries) {
  std::vector<std::string> moved;
  for (const auto& [worker, endpoints] : entries) {
    if (endpoints.empty()) continue;
    const std::string before = FirstOf(worker);
    entries_[worker] = endpoints;
    if (before != endpoints.front()) moved.push_back(worker);
  }
  if (!moved_) return;
  for (const std::string& worker : moved) moved_(worker);
}

std::string Directory::FirstOf(const std::string& worker) const {
  const auto it = entries_.find(worker);
  return it == entries_.end() ? "" : it->second.front();
}

std::string Directory::EndpointOf(const std::string& worker) const {
  return IsReverse(worker) ? "" : FirstOf(worker);
}

bool Directory::IsReverse(const std::string& worker) const {
  return FirstOf(worker) == protocol::kReverse;
}

void Directory::SetAwaitedBy(Workers workers) {
  if (workers == awaited_by_) return;
  awaited_by_ = std::move(workers);
  if (awaited_) awaited_();
}

}  // namespace skerry::transport
