// protocol/seat_counters.h
//
// Defines the counters of what a worker has done for a job.
#ifndef SKERRY_PROTOCOL_SEAT_COUNTERS_H_
#define SKERRY_PROTOCOL_SEAT_COUNTERS_H_

#include <cstdint>

namespace skerry::protocol {

// Totals since the seat was made.
struct SeatCounters {
  uint64_t bulk_sent_bytes = 0;  // each frame once, whatever was resent
  uint64_t bulk_received_bytes = 0;
  double compute_s = 0;
  double stall_s = 0;  // at boundaries with nothing to compute
  uint64_t samples = 0;
  uint64_t rounds = 0;
  uint64_t trainer_restarts = 0;

  friend bool operator==(const SeatCounters&, const SeatCounters&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_SEAT_COUNTERS_H_
