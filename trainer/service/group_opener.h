// trainer/service/group_opener.h
//
// Knows the kinds of groups in which trainers of an island meet: shared memory
// on one host, TCP between hosts.
#ifndef SKERRY_TRAINER_SERVICE_GROUP_OPENER_H_
#define SKERRY_TRAINER_SERVICE_GROUP_OPENER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "trainer/convert/messages.h"
#include "transport/group.h"
#include "transport/tcp/tcp_listener.h"

namespace skerry::trainer {

// One thread calls it.
class GroupOpener {
 public:
  // Makes a place where members can meet, in place of one where nobody has met.
  // `address` is the host at which others reach this trainer; empty: all are on
  // this host. Returns the bootstrap bytes of the place. Errors:
  // InvalidArgument, the address is no host; Unavailable, one cannot listen
  // there.
  absl::StatusOr<std::string> MakePlace(const std::string& address);

  // Returns this member's handle. Does not wait for the others. Errors:
  // InvalidArgument, the bootstrap bytes are none, or rank, size or address are
  // out of range; FailedPrecondition, rank 0 has not made that place; those of
  // the group's kind.
  absl::StatusOr<std::shared_ptr<transport::Group>> Join(
      const GroupPlace& place);

 private:
  // Where this trainer has made a place over TCP, and nobody has met yet.
  std::string bootstrap_;
  std::unique_ptr<transport::TcpListener> listener_;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_SERVICE_GROUP_OPENER_H_
