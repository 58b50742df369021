// transport/tcp/testing/tcp_members.h
//
// Groups over TCP on this machine, for tests.
#ifndef SKERRY_TRANSPORT_TCP_TESTING_TCP_MEMBERS_H_
#define SKERRY_TRANSPORT_TCP_TESTING_TCP_MEMBERS_H_

#include <memory>

#include "absl/time/time.h"
#include "transport/tcp/tcp_group.h"
#include "transport/tcp/tcp_listener.h"
#include "transport/testing/group_runner.h"

namespace skerry::transport {

// A place where a group can meet.
struct TcpPlace {
  TcpRendezvous rendezvous;
  std::unique_ptr<TcpListener> listener;  // of rank 0
};
TcpPlace NewTcpPlace();

// What that member opens its handle with. Rank 0 takes the place's listener.
TcpGroupOptions MemberAt(TcpPlace& place, int rank, int size,
                         absl::Duration timeout);

// A new group whose members are all in this process.
GroupMembers MakeTcpGroup(int size, absl::Duration timeout);

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TCP_TESTING_TCP_MEMBERS_H_
