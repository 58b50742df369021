#include "transport/directory.h"

namespace skerry::transport {

void Directory::Learn(const Entries& entries) {
  std::vector<std::string> moved;
  for (const auto& [worker, endpoints] : entries) {
    if (endpoints.empty()) continue;
    const std::string before = EndpointOf(worker);
    entries_[worker] = endpoints;
    if (before != endpoints.front()) moved.push_back(worker);
  }
  if (!moved_) return;
  for (const std::string& worker : moved) moved_(worker);
}

std::string Directory::EndpointOf(const std::string& worker) const {
  const auto it = entries_.find(worker);
  return it == entries_.end() ? "" : it->second.front();
}

}  // namespace skerry::transport
