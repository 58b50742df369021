// transport/group.h
//
// Collective operations among the trainers of one island, which share fast
// links: shared memory on one host, TCP between hosts.
#ifndef SKERRY_TRANSPORT_GROUP_H_
#define SKERRY_TRANSPORT_GROUP_H_

#include "absl/status/status.h"
#include "base/collective.h"

namespace skerry::transport {

// A collective that can be waited for and ended.
//
// Errors of every call: Aborted when the group was aborted; DeadlineExceeded
// when a member did not arrive in time; InvalidArgument when the members
// disagree about what they are doing, or a root or a length is out of range.
// The first error ends the group for everyone: later calls return Aborted. A
// dead member therefore holds the others up for one timeout at most.
//
// Thread: one thread makes the calls; Abort() may be called from any.
class Group : public Collective {
 public:
  // Returns when every member has come here.
  virtual absl::Status Barrier() = 0;
  // Ends the group: every call under way or yet to come, of any member,
  // returns Aborted. May be repeated.
  virtual void Abort() = 0;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GROUP_H_
