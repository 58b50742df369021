// transport/send_queue.h
//
// Keeps the frames for one peer: which goes next, which have been sent and not
// answered, and what each answer means. This is pure code: it has no stream and
// no clock.
//
// A frame is waiting or unanswered until it is finished. Whatever happens to
// streams, a frame leaves only by an answer, by ForgetBefore(), or after too
// many corrupt answers.
#ifndef SKERRY_TRANSPORT_SEND_QUEUE_H_
#define SKERRY_TRANSPORT_SEND_QUEUE_H_

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "transport/answer.h"
#include "transport/bulk.h"
#include "transport/flow.h"

namespace skerry::transport {

struct SendQueueOptions {
  // Payload bytes sent and not answered, by class. One frame may always go.
  std::array<uint64_t, kTrafficClassCount> unanswered_bytes_max = {
      uint64_t{4} << 20, uint64_t{32} << 20};
  uint64_t frames_max = 1 << 16;
  // The frame is given up at this many corrupt answers.
  int corrupt_max = 8;
  // Back-off after kNotYet: doubles from min to max; each wait is drawn from
  // the upper half.
  absl::Duration retry_min = absl::Milliseconds(10);
  absl::Duration retry_max = absl::Milliseconds(500);
};

class SendQueue {
 public:
  using Ticket = uint64_t;
  struct Outgoing {
    Ticket ticket = 0;
    const Frame* frame = nullptr;  // valid until the next call
  };
  struct Finished {
    BulkTransport::SendDone done;
    absl::Status status;
  };

  SendQueue(const SendQueueOptions& options, uint64_t seed)
      : options_(options), random_(seed) {}

  bool HasRoom() const { return entries_.size() < options_.frames_max; }
  // Requires: HasRoom().
  void Push(Frame frame, TrafficClass traffic_class,
            BulkTransport::SendDone done);

  // Takes the next frame of the class that may be sent now, oldest first; it
  // counts as unanswered from here on.
  std::optional<Outgoing> Next(TrafficClass traffic_class, Instant now);
  // Whether Next() would give a frame.
  bool CanSend(TrafficClass traffic_class, Instant now) const;
  // Whether any frame of the class is waiting, allowed or not.
  bool HasWaiting(TrafficClass traffic_class) const;
  // When a frame that waits for its back-off alone may go; none if there is no
  // such frame.
  std::optional<Instant> NextWork(Instant now) const;

  // Answers for tickets that are finished are ignored.
  std::optional<Finished> OnAnswer(Ticket ticket, Answer answer, Instant now);
  // The stream of these tickets is gone. They wait again, in their old order.
  void OnLost(std::span<const Ticket> tickets);
  std::vector<Finished> ForgetBefore(uint64_t job, uint32_t fragment,
                                     uint64_t attempt);

  // The most payload bytes of kBulk that may be under way: sent, and not yet
  // known to have arrived or to be lost, whether or not they are forgotten. One
  // frame may always go.
  void set_under_way_bytes_max(uint64_t bytes) { under_way_bytes_max_ = bytes; }

  bool empty() const { return entries_.empty(); }
  PeerCounters& counters() { return counters_; }
  const PeerCounters& counters() const { return counters_; }

 private:
  struct FlowKey {
    TrafficClass traffic_class;
    Flow flow;
    friend auto operator<=>(const FlowKey&, const FlowKey&) = default;
  };
  struct FlowState {
    absl::btree_set<Ticket> waiting;
    uint64_t unanswered = 0;
    bool held = false;       // the receiver said kHeld
    absl::Duration backoff;  // positive while answered kNotYet
    Instant not_before;
  };
  struct Entry {
    Frame frame;
    TrafficClass traffic_class;
    BulkTransport::SendDone done;
    bool unanswered = false;
    bool under_way = false;
    bool was_sent = false;
    int corrupt = 0;
  };
  using Entries = absl::btree_map<Ticket, Entry>;
  using Flows = absl::btree_map<FlowKey, FlowState>;

  static FlowKey KeyOf(const Entry& entry) {
    return {entry.traffic_class, FlowOf(entry.frame.header)};
  }
  static bool MayGo(const FlowState& flow, Instant now);
  // The flow whose oldest waiting frame goes next.
  Flows::const_iterator Choose(TrafficClass traffic_class, Instant now) const;
  // Takes the ticket out of its flow's state.
  void Detach(Ticket ticket, const Entry& entry);
  void Requeue(Ticket ticket, Entry& entry);
  Finished Finish(Entries::iterator it, absl::Status status);
  void BackOff(FlowState& flow, Instant now);
  // The frame is no longer under way, because it has arrived or is lost.
  void EndWay(Ticket ticket);

  SendQueueOptions options_;
  Random random_;
  Ticket next_ticket_ = 0;
  Entries entries_;
  Flows flows_;
  std::array<uint64_t, kTrafficClassCount> unanswered_bytes_ = {};
  // Payload bytes under way in kBulk alone: by ticket, those of each frame that
  // was forgotten, and those of all frames together.
  absl::btree_map<Ticket, uint64_t> forgotten_;
  uint64_t under_way_bytes_ = 0;
  uint64_t under_way_bytes_max_ = std::numeric_limits<uint64_t>::max();
  PeerCounters counters_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_SEND_QUEUE_H_
