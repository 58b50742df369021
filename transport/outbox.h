// transport/outbox.h
//
// The sending half of every bulk transport: peers, their queues, and streams
// that break and are opened again. Each transport brings its own kind of
// stream.
#ifndef SKERRY_TRANSPORT_OUTBOX_H_
#define SKERRY_TRANSPORT_OUTBOX_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/instant.h"
#include "base/random.h"
#include "runtime/event_loop.h"
#include "transport/answer.h"
#include "transport/bulk.h"
#include "transport/send_queue.h"

namespace skerry::transport {

// Events of a stream for the object that opened it. They come on the loop,
// never inside a call to the stream, and never after the stream was destroyed.
class StreamEvents {
 public:
  virtual ~StreamEvents() = default;
  // One more frame may be written.
  virtual void OnWritten() = 0;
  virtual void OnAnswers(std::span<const Answered> answers) = 0;
  // The stream is over; nothing follows.
  virtual void OnClosed(const absl::Status& why) = 0;
};

// One stream to one peer. Destroying it closes it.
class OutgoingStream {
 public:
  virtual ~OutgoingStream() = default;
  // Frames are numbered 0, 1, 2, ... in the order of the calls.
  virtual void Write(const Frame& frame) = 0;
};

// Stream 0 carries kLatency, the others kBulk.
class StreamOpener {
 public:
  virtual ~StreamOpener() = default;
  virtual std::unique_ptr<OutgoingStream> Open(const std::string& peer,
                                               int stream_index,
                                               StreamEvents& events) = 0;
};

struct OutboxOptions {
  SendQueueOptions queue = {};
  // Streams for kBulk to one peer: several for long fat links.
  int bulk_streams_per_peer = 1;
  // Frames handed to one stream and not yet written by it. More hides the
  // loop's latency, fewer let urgent frames pass sooner.
  int frames_per_stream_max = 2;
  // The wait before a lost stream is opened again. It doubles from min to max,
  // and each real wait is drawn from the upper half.
  absl::Duration reopen_min = absl::Milliseconds(20);
  absl::Duration reopen_max = absl::Seconds(1);
};

// Lives on `loop`; destroyed there or after the loop has stopped.
class Outbox {
 public:
  // `loop` and `opener` outlive it. `seed` moves only the jitter.
  Outbox(const OutboxOptions& options, runtime::EventLoop& loop,
         StreamOpener& opener, uint64_t seed);
  ~Outbox();

  void Send(const std::string& name, Frame frame, TrafficClass traffic_class,
            BulkTransport::SendDone done);
  void ForgetBefore(uint64_t job, uint32_t fragment, uint64_t attempt);
  // The peer of that name is reached elsewhere from now on. Its streams are
  // opened anew, and carry again what was not answered. What the old link has
  // shown is forgotten.
  void OnMoved(const std::string& name);
  // Made at the first use.
  PeerCounters& CountersOf(const std::string& name);
  absl::btree_map<std::string, PeerCounters> counters() const;
  absl::btree_map<std::string, LinkEstimate> links() const;
  std::vector<std::string> unreached() const;

 private:
  struct Peer;
  class Lane;

  Peer& PeerNamed(const std::string& name);
  // Opens what has to be open and writes what may be written.
  void Pump(Peer& peer);
  // Begins to wait for an answer, or ends it when there is nothing to answer.
  void AwaitAnswer(Peer& peer, bool has_answered);
  void Fill(Peer& peer, Lane& lane);
  void Arm(Peer& peer);
  void Finish(SendQueue::Finished finished);

  OutboxOptions options_;
  runtime::EventLoop& loop_;
  StreamOpener& opener_;
  Random random_;
  // Its end tells tasks left on the loop that the outbox is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  absl::btree_map<std::string, std::unique_ptr<Peer>> peers_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_OUTBOX_H_
