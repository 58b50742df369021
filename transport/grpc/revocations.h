// transport/grpc/revocations.h
//
// Certificates that are not believed any more before they expire.
#ifndef SKERRY_TRANSPORT_GRPC_REVOCATIONS_H_
#define SKERRY_TRANSPORT_GRPC_REVOCATIONS_H_

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace skerry::transport {

// Any thread may call it.
class Revocations {
 public:
  // The whole list, as names in certificates and as serial numbers of single
  // ones.
  void Set(std::set<std::string, std::less<>> names_and_serials) {
    std::lock_guard<std::mutex> lock(mutex_);
    revoked_ = std::move(names_and_serials);
  }
  bool Contain(std::string_view name, std::string_view serial) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return !revoked_.empty() &&
           (revoked_.contains(name) || revoked_.contains(serial));
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string, std::less<>> revoked_;  // guarded by mutex_
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_REVOCATIONS_H_
