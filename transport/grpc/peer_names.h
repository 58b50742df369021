// transport/grpc/peer_names.h
//
// Keeps which worker is meant by an address, as the coordinator's orders say.
#ifndef SKERRY_TRANSPORT_GRPC_PEER_NAMES_H_
#define SKERRY_TRANSPORT_GRPC_PEER_NAMES_H_

#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "runtime/posix/mutex.h"

namespace skerry::transport {

// Any thread may call it.
class PeerNames {
 public:
  // The newest word about an address counts.
  void Set(const std::string& address, const std::string& worker) {
    const runtime::MutexLock lock(mutex_);
    workers_[address] = worker;
  }
  // None when nobody has said who is there.
  std::optional<std::string> Find(const std::string& address) const {
    const runtime::MutexLock lock(mutex_);
    const auto it = workers_.find(address);
    if (it == workers_.end()) return std::nullopt;
    return it->second;
  }

 private:
  mutable runtime::Mutex mutex_;
  absl::btree_map<std::string, std::string> workers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_PEER_NAMES_H_
