// transport/link_meter.h
//
// What a link to one peer carries, from when frames left and when the peer said
// that they are there.
//
// While frames are under way the link is busy. Its rate is what arrived after
// the first arrival, over that time: so the round trip does not count as
// slowness of the link. Frames of an attempt that was given up are under way as
// well, until they arrive or their stream is lost. What is too short to time is
// timed together, and what lasts long is looked at in pieces.
#ifndef SKERRY_TRANSPORT_LINK_METER_H_
#define SKERRY_TRANSPORT_LINK_METER_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "absl/time/time.h"
#include "base/instant.h"
#include "transport/bulk.h"

namespace skerry::transport {

class LinkMeter {
 public:
  void OnSent(Instant now);
  // The peer has said of a frame that it is there, whether or not it has a use
  // for it.
  void OnArrived(Instant now, uint64_t bytes);
  // The stream was lost, and nobody will say whether a frame arrived.
  void OnLost();

  // None before enough arrived to time it.
  std::optional<LinkEstimate> estimate() const;

 private:
  // A piece of the busy time is over.
  void EndPiece();
  void Rest();

  uint64_t under_way_ = 0;       // frames
  std::optional<Instant> sent_;  // the first of this busy time
  bool arriving_ = false;        // something did in this busy time
  bool in_pieces_ = false;       // one of this busy time has ended
  Instant begin_;                // of the piece
  Instant last_;                 // arrival
  uint64_t bytes_ = 0;           // arrived in the piece
  // Of the first frame of this busy time: its bytes, and from sending it until
  // it arrived.
  uint64_t first_bytes_ = 0;
  std::optional<absl::Duration> first_;

  // Of pieces since the last that told a rate.
  uint64_t timed_bytes_ = 0;
  absl::Duration timed_;

  // Moving, of rates, by how long each lasted.
  double mean_ = 0;
  double variance_ = 0;
  double weight_s_ = 0;
  std::deque<absl::Duration> round_trips_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_LINK_METER_H_
