// transport/group.h
//
// Collective operations among the trainers of one island, which share fast
// links: shared memory on one host, NCCL between GPUs.
#ifndef SKERRY_TRANSPORT_GROUP_H_
#define SKERRY_TRANSPORT_GROUP_H_

#include <span>

#include "absl/status/status.h"

namespace skerry::transport {

// One member's handle. All members call the same collectives, in the same
// order, with the same lengths and roots; each call returns when this member's
// part is done.
//
// Sums are taken in fp32 in the order of the ranks, so every member gets the
// same bits.
//
// Errors of every collective: Aborted when the group was aborted;
// DeadlineExceeded when a member did not arrive in time; InvalidArgument when
// the members disagree about what they are doing, or a root is out of range.
// The first error ends the group for everyone: later calls return Aborted, and
// the contents of `values` are unspecified. A dead member therefore holds the
// others up for one timeout at most.
//
// Thread: one thread calls collectives; Abort() may be called from any.
class Group {
 public:
  virtual ~Group() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual absl::Status AllReduceSum(std::span<float> values) = 0;
  virtual absl::Status Broadcast(std::span<float> values, int root) = 0;
  virtual absl::Status Barrier() = 0;
  // Ends the group: every collective under way or yet to come, of any member,
  // returns Aborted. May be repeated.
  virtual void Abort() = 0;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GROUP_H_
