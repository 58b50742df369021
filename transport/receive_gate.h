// transport/receive_gate.h
//
// Offers one stream's frames to the receiver and returns the answers. A frame
// that is not wanted yet is kept, with the later frames of its flow, and
// offered again. So if an attempt opens here a moment later than at the sender,
// the frames need not be sent again. Calls of the receiver are its only side
// effect.
#ifndef SKERRY_TRANSPORT_RECEIVE_GATE_H_
#define SKERRY_TRANSPORT_RECEIVE_GATE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "transport/answer.h"
#include "transport/bulk.h"
#include "transport/flow.h"

namespace skerry::transport {

struct ReceiveGateOptions {
  // Payload bytes kept for one stream; what is beyond is given back.
  uint64_t held_bytes_max = uint64_t{32} << 20;
  // How long a flow is kept; then it is given back and the sender tries later.
  absl::Duration held_max = absl::Seconds(5);
  // Between two offers of a kept flow; doubles from min to max.
  absl::Duration retry_min = absl::Milliseconds(10);
  absl::Duration retry_max = absl::Milliseconds(250);
};

class ReceiveGate {
 public:
  // `from` sends the frames. `receiver` and `counters` outlive the gate.
  ReceiveGate(std::string from, const ReceiveGateOptions& options,
              BulkReceiver& receiver, SourceCounters& counters)
      : from_(std::move(from)),
        options_(options),
        receiver_(receiver),
        counters_(counters) {}

  // A whole and undamaged frame.
  Answer Offer(uint64_t ordinal, const compression::FrameHeader& header,
               SharedBytes payload, Instant now);
  // Offers what is kept for (job, fragment).
  std::vector<Answered> Reoffer(uint64_t job, uint32_t fragment, Instant now);
  // Offers what is due.
  std::vector<Answered> Retry(Instant now);
  // When Retry() next has something to do.
  std::optional<Instant> NextWork() const;

 private:
  struct Kept {
    uint64_t ordinal = 0;
    compression::FrameHeader header;
    SharedBytes payload;
  };
  struct KeptFlow {
    std::deque<Kept> frames;
    Instant since;
    absl::Duration backoff;
    Instant next_try;
  };

  Answer Keep(Kept kept, Instant now);
  // Counts what is refused.
  FrameVerdict Ask(const compression::FrameHeader& header,
                   const SharedBytes& payload);
  // Offers the flow's frames until one is not wanted yet.
  void OfferAgain(KeptFlow& flow, Instant now, std::vector<Answered>& answers);

  const std::string from_;
  ReceiveGateOptions options_;
  BulkReceiver& receiver_;
  SourceCounters& counters_;
  uint64_t held_bytes_ = 0;
  absl::btree_map<Flow, KeptFlow> kept_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_RECEIVE_GATE_H_
