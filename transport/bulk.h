// transport/bulk.h
//
// Bulk bytes between workers: frames of an exchange, delivered at least once
// until the receiver has said yes or no, and immutable objects fetched by key.
// docs/formats/bulk.md is the conversation on the wire.
//
// Promises, for every implementation:
// - A frame is offered to the receiver whole and with its checksums verified;
//   what fails the check is counted, not offered, and sent again.
// - Frames sent to one peer in one class are first offered in the order of
//   Send(), as long as one stream carries the class and the receiver does not
//   answer kNotYet. After a lost stream what was not answered is offered again,
//   so receivers discard repeated parts.
// - A waiting kLatency frame is written before any waiting kBulk frame.
// - Bytes sent and not answered are bounded per peer and class.
// - A peer is known by its name. One that is reached elsewhere than before gets
//   what it has not answered.
#ifndef SKERRY_TRANSPORT_BULK_H_
#define SKERRY_TRANSPORT_BULK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/shared_bytes.h"
#include "compression/frame.h"
#include "protocol/frame_verdict.h"
#include "protocol/piece_key.h"

namespace skerry::transport {

using protocol::FrameVerdict;
using protocol::PieceKey;

struct Frame {
  // payload_bytes and payload_hash are set by the caller, who knows the hash
  // from encoding.
  compression::FrameHeader header;
  SharedBytes payload;
};

enum class TrafficClass { kLatency = 0, kBulk = 1 };
inline constexpr int kTrafficClassCount = 2;

// A chunk of a data file has so many bytes, or fewer at the end of the file. A
// chunk that begins at the end is empty.
inline constexpr uint64_t kDataChunkBytes = uint64_t{8} << 20;

// Who asks for an object.
struct Fetcher {
  std::string name;
  // A worker's certificate says the name. Without one it is an operator, or
  // somebody in plaintext who may be anybody on this machine.
  bool is_worker = false;
  friend bool operator==(const Fetcher&, const Fetcher&) = default;
};

// The worker's end. Called on the loop the transport was made with.
class BulkReceiver {
 public:
  virtual ~BulkReceiver() = default;
  // `from` is the worker that sent it: the name in its certificate, in
  // plaintext the name that it gave. `payload` is exactly the frame's bytes,
  // aligned to 64; keeping a copy keeps them alive without copying.
  virtual FrameVerdict OnFrame(const std::string& from,
                               const compression::FrameHeader& header,
                               const SharedBytes& payload) = 0;
  // NotFound when not held. Any error is passed to the peer that asked.
  virtual absl::StatusOr<SharedBytes> OnFetch(const Fetcher& fetcher,
                                              const PieceKey& key) = 0;
  // Answers a fetch of the kind kData, which may have to read a disk. `answer`
  // runs on the loop, at once or later. By default there are no data here.
  using FetchAnswer = absl::AnyInvocable<void(absl::StatusOr<SharedBytes>) &&>;
  virtual void OnDataFetch(const Fetcher&, const PieceKey&,
                           FetchAnswer answer) {
    std::move(answer)(absl::NotFoundError("no data set is given from here"));
  }
};

// Since the transport was made; "sent" counts every time a frame was written.
struct PeerCounters {
  uint64_t frames_sent = 0;
  uint64_t payload_bytes_sent = 0;
  uint64_t frames_resent = 0;  // of those sent, not for the first time
  uint64_t frames_accepted = 0;
  uint64_t frames_refused = 0;
  uint64_t frames_not_yet = 0;  // answers kNotYet that crossed the wire
  uint64_t frames_corrupt = 0;  // answers that the checksum did not match
  uint64_t streams_lost = 0;
  uint64_t fetches_done = 0;
  uint64_t fetches_failed = 0;
  friend bool operator==(const PeerCounters&, const PeerCounters&) = default;
};

// Counts what came from one peer, under the name that the peer gave.
struct SourceCounters {
  uint64_t frames_received = 0;  // whole and undamaged, repeats included
  uint64_t payload_bytes_received = 0;
  uint64_t frames_refused = 0;
  uint64_t frames_corrupt = 0;
  uint64_t frames_held = 0;  // answered kNotYet at least once
  uint64_t fetches_served = 0;
  uint64_t fetch_bytes_served = 0;
  friend bool operator==(const SourceCounters&,
                         const SourceCounters&) = default;
};

// What the frames to one peer have shown of the link to it.
struct LinkEstimate {
  double bytes_per_s = 0;
  double rate_spread = 0;  // standard deviation over the mean
  // Round trips of the last frames that found the link idle: the shortest, and
  // how much longer the median was.
  absl::Duration round_trip;
  absl::Duration round_trip_spread = {};
  friend bool operator==(const LinkEstimate&, const LinkEstimate&) = default;
};

struct BulkCounters {
  absl::btree_map<std::string, PeerCounters> to;      // by the peer's name
  absl::btree_map<std::string, SourceCounters> from;  // likewise
};

// One worker's end of all its bulk links. Members are called on the loop given
// at construction, and callbacks run on it, never inside the call that was
// given them. Destroy it on the loop or after the loop has stopped; callbacks
// that have not run by then are destroyed unrun.
class BulkTransport {
 public:
  using SendDone = absl::AnyInvocable<void(absl::Status) &&>;
  using FetchDone = absl::AnyInvocable<void(absl::StatusOr<SharedBytes>) &&>;

  virtual ~BulkTransport() = default;

  // Queues a frame for the worker named `peer`. The same bytes are sent again
  // after a lost stream and after kNotYet until there is an answer. `done`
  // gets OK (accepted), Aborted (refused), Cancelled (ForgetBefore),
  // DataLoss (the checksum failed time after time: the frame is damaged here),
  // or ResourceExhausted (too many frames wait for this peer).
  virtual void Send(const std::string& peer, Frame frame,
                    TrafficClass traffic_class, SendDone done) = 0;

  // Drops frames of (job, fragment) of attempts below `attempt`, to all
  // peers, queued or unanswered.
  virtual void ForgetBefore(uint64_t job, uint32_t fragment,
                            uint64_t attempt) = 0;

  // Offers again, now, the frames of (job, fragment) that the receiver answered
  // kNotYet. Call it when an attempt opens; without the call they are offered
  // again after a back-off.
  virtual void Reoffer(uint64_t job, uint32_t fragment) = 0;

  // Fetches a whole object; its hash is verified. One try: the caller has other
  // holders. `done` gets NotFound, Unavailable (no answer from the peer),
  // DataLoss (hash), ResourceExhausted (object above the limit), or the
  // holder's error.
  virtual void Fetch(const std::string& peer, const PieceKey& key,
                     FetchDone done) = 0;

  virtual BulkCounters counters() const = 0;
  // Estimates by name, for peers that were sent enough to time it.
  virtual absl::btree_map<std::string, LinkEstimate> links() const = 0;
  // Peers that have answered nothing for 30 s although frames waited for them.
  virtual std::vector<std::string> unreached() const = 0;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_BULK_H_
