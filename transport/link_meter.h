// transport/link_meter.h
//
// Estimates the rate of a link to one peer from the times at which frames left
// and at which the peer said that they had arrived.
//
// While frames are under way the link is busy. Its rate is the number of bytes
// after the first arrival, over the time since then, so that the round trip
// does not make the link look slow. Frames of an attempt that was given up
// count as under way until they arrive or their stream is lost. Short busy
// times are timed together, and long ones in pieces.
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
  // The peer has said that a frame arrived, whether or not it has a use for it.
  void OnArrived(Instant now, uint64_t bytes);
  // The stream was lost, and nobody will say whether a frame arrived.
  void OnLost();

  // None before enough arrived to time it.
  std::optional<LinkEstimate> estimate() const;

 private:
  // Ends a piece of the busy time.
  void EndPiece();
  void Rest();

  uint64_t under_way_ = 0;       // frames
  std::optional<Instant> sent_;  // the first of this busy time
  bool arriving_ = false;        // something did in this busy time
  bool in_pieces_ = false;       // one of this busy time has ended
  Instant begin_;                // of the piece
  Instant last_;                 // arrival
  uint64_t bytes_ = 0;           // arrived in the piece
  // The bytes of the first frame of this busy time, and the time from sending
  // it until it arrived.
  uint64_t first_bytes_ = 0;
  std::optional<absl::Duration> first_;

  // Bytes and duration of the pieces since the last that gave a rate.
  uint64_t timed_bytes_ = 0;
  absl::Duration timed_;

  // Moving mean and variance of the rates, each weighted by how long it lasted,
  // and the weight that they have together.
  double mean_ = 0;
  double variance_ = 0;
  double weight_s_ = 0;
  std::deque<absl::Duration> round_trips_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_LINK_METER_H_
