// transport/grpc/peer_names.h
//
// Keeps which worker is meant by an address, as the coordinator's orders say.
#ifndef SKERRY_TRANSPORT_GRPC_PEER_NAMES_H_
#define SKERRY_TRANSPORT_GRPC_PEER_NAMES_H_

#include <mutex>
#include <optional>
#include <string>

#include "absl/container/btree_map.h"

namespace skerry::transport {

// Any thread may call it.
class PeerNames {
 public:
  // The newest word about an address counts.
  void Set(const std::string& address, const std::string& worker) {
    std::lock_guard<std::mutex> lock(mutex_);
    workers_[address] = worker;
  }
  // None when nobody has said who is there.
  std::optional<std::string> Find(const std::string& address) const {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = workers_.find(address);
    if (it == workers_.end()) return std::nullopt;
    return it->second;
  }

 private:
  mutable std::mutex mutex_;
  absl::btree_map<std::string, std::string> workers_;  // guarded by mutex_
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_PEER_NAMES_H_
