// transport/directory.h
//
// Where workers are reached. Everything that sends to a worker knows it by its
// name, and asks here for its endpoint when it connects.
#ifndef SKERRY_TRANSPORT_DIRECTORY_H_
#define SKERRY_TRANSPORT_DIRECTORY_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"

namespace skerry::transport {

// Members are called on one loop, and so is the handler.
class Directory {
 public:
  // Endpoints (host:port) by worker, the preferred one first.
  using Entries = absl::btree_map<std::string, std::vector<std::string>>;
  // Called when a worker is reached elsewhere than before, or for the first
  // time.
  using Moved = absl::AnyInvocable<void(const std::string& worker)>;

  // Takes in what `entries` says. What is known of other workers stays, because
  // frames to them may still wait.
  void Learn(const Entries& entries);

  // The endpoint to connect to; empty when nobody has said one. Among several
  // it is the first.
  std::string EndpointOf(const std::string& worker) const;

  // Replaces the handler; null takes it away.
  void set_on_moved(Moved moved) { moved_ = std::move(moved); }

 private:
  Entries entries_;
  Moved moved_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_DIRECTORY_H_
