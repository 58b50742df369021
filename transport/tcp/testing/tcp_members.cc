#include "transport/tcp/testing/tcp_members.h"

#include <utility>

namespace skerry::transport {
namespace {

constexpr char kHere[] = "127.0.0.1";

}  // namespace

TcpPlace NewTcpPlace() {
  TcpPlace place;
  place.listener = TcpListener::Listen(kHere).value();
  place.rendezvous = {place.listener->endpoint(), DrawGroupSecret()};
  return place;
}

TcpGroupOptions MemberAt(TcpPlace& place, int rank, int size,
                         absl::Duration timeout) {
  TcpGroupOptions options;
  options.rendezvous = place.rendezvous;
  options.rank = rank;
  options.size = size;
  options.listener = rank == 0 ? std::move(place.listener)
                               : TcpListener::Listen(kHere).value();
  options.timeout = timeout;
  return options;
}

GroupMembers MakeTcpGroup(int size, absl::Duration timeout) {
  TcpPlace place = NewTcpPlace();
  GroupMembers members;
  for (int rank = 0; rank < size; ++rank) {
    members.push_back(
        TcpGroup::Open(MemberAt(place, rank, size, timeout)).value());
  }
  return members;
}

}  // namespace skerry::transport
