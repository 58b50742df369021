// transport/grpc/revocations.h
//
// Certificates that are not believed any more before they expire.
#ifndef SKERRY_TRANSPORT_GRPC_REVOCATIONS_H_
#define SKERRY_TRANSPORT_GRPC_REVOCATIONS_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "runtime/posix/mutex.h"

namespace skerry::transport {

// Names in certificates, and serial numbers of single ones.
using RevokedList = std::set<std::string, std::less<>>;

// Reads one name or serial number a line, as
// "spiffe://lab/island/west/worker/w1" or "1A2B". Empty lines and what follows
// a # are skipped. Errors: InvalidArgument, with the line.
absl::StatusOr<RevokedList> ParseRevokedList(std::string_view text);

// Two lists: that of this machine's file, and that of the cluster, which its
// coordinator keeps. A certificate is revoked that one of them has. Any thread
// may call it.
class Revocations {
 public:
  // The whole list of the file.
  void Set(RevokedList revoked) {
    const runtime::MutexLock lock(mutex_);
    of_file_ = std::move(revoked);
  }
  // The whole list of the cluster.
  void SetOfCluster(RevokedList revoked) {
    const runtime::MutexLock lock(mutex_);
    of_cluster_ = std::move(revoked);
  }
  bool Contain(std::string_view name, std::string_view serial) const {
    const runtime::MutexLock lock(mutex_);
    const auto has = [&](const RevokedList& list) {
      return !list.empty() && (list.contains(name) || list.contains(serial));
    };
    return has(of_file_) || has(of_cluster_);
  }

 private:
  mutable runtime::Mutex mutex_;
  RevokedList of_file_ ABSL_GUARDED_BY(mutex_);
  RevokedList of_cluster_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_REVOCATIONS_H_
