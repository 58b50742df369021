// transport/tcp/tcp_meeting.h
//
// Brings the members of a group together: at the end each has a connection to
// every other, and both ends of it have shown that they know the group's
// secret.
#ifndef SKERRY_TRANSPORT_TCP_TCP_MEETING_H_
#define SKERRY_TRANSPORT_TCP_TCP_MEETING_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/instant.h"
#include "transport/tcp/greeting.h"
#include "transport/tcp/sockets.h"
#include "transport/tcp/tcp_listener.h"

namespace skerry::transport {

struct TcpMeetingOptions {
  TcpRendezvous rendezvous;
  int rank = 0;
  int size = 1;
  // Where this member listens; rank 0 where the rendezvous says.
  std::unique_ptr<TcpListener> listener;
  // Becomes readable when the meeting is to end.
  int stop_fd = -1;
};

// Everybody dials rank 0 and says where he listens. When all have, rank 0 tells
// all of them, and every rank dials those between. Who cannot show the secret
// is dropped after a greeting of a fixed size, within kGreetWithin.
class TcpMeeting {
 public:
  explicit TcpMeeting(TcpMeetingOptions options);
  ~TcpMeeting();

  // Returns connections by rank; this member's own is not open. It ends when
  // all are there, a member has left, one cannot be reached, or it is to stop.
  // A member that stops leaves rank 0 behind with a sign, and rank 0 the
  // others, so that the meeting ends for all. Errors: Aborted.
  absl::StatusOr<std::vector<OwnedFd>> Run();

  // The ranks that have no connection to this member yet. Any thread.
  uint64_t missing() const { return missing_.load(); }

  // A connection that has not shown the secret for so long is dropped, and so
  // is the oldest of more than kStrangersMax of them.
  static constexpr absl::Duration kGreetWithin = absl::Seconds(5);
  static constexpr size_t kStrangersMax = 128;

 private:
  struct Talk;

  absl::Status RunUntilAllAreHere();
  // Waits until something can be done, and does it.
  absl::Status Turn();
  absl::Status Dial(int rank, const std::string& endpoint);
  void Accept();
  // Moves what can be moved. Errors: Aborted, a member has left.
  absl::Status Move(Talk& talk);
  // All that was wanted of this one is here.
  absl::Status OnWhole(Talk& talk);
  // What the end that dialled has said. False: he is a stranger.
  bool OnGreetingOfDialer(Talk& talk);
  bool OnProofOfDialer(Talk& talk);
  absl::Status OnAnswerOfAcceptor(Talk& talk);
  absl::Status OnTable(Talk& talk);
  void ConsiderTable();
  void DropStrangers();
  void Refuse(Talk& talk, const char* why);
  // Says goodbye to rank 0 in a way that a stranger cannot.
  void Leave();
  bool IsStopped() const;
  Talk* Find(int rank) const;

  TcpMeetingOptions options_;
  std::vector<std::unique_ptr<Talk>> talks_;
  std::vector<std::string> endpoints_;  // by rank, as far as rank 0 has heard
  std::atomic<uint64_t> missing_;
  uint64_t refused_ = 0;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_TCP_TCP_MEETING_H_
