// transport/inbox.h
//
// The receiving half of every bulk transport: incoming streams, the frames that
// are held for each, and the answers.
#ifndef SKERRY_TRANSPORT_INBOX_H_
#define SKERRY_TRANSPORT_INBOX_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "absl/container/btree_map.h"
#include "base/instant.h"
#include "runtime/event_loop.h"
#include "transport/answer.h"
#include "transport/bulk.h"
#include "transport/receive_gate.h"

namespace skerry::transport {

// The way back to the sender of an incoming stream. Called on the loop.
class IncomingStream {
 public:
  virtual ~IncomingStream() = default;
  virtual void Answer(std::span<const Answered> answers) = 0;
};

// Lives on `loop`; destroyed there or after the loop has stopped.
class Inbox {
 public:
  using StreamId = uint64_t;

  // `loop` and `receiver` outlive it.
  Inbox(const ReceiveGateOptions& options, runtime::EventLoop& loop,
        BulkReceiver& receiver);
  ~Inbox();

  // `from` is the name the peer gave; `stream` stays valid until OnClosed().
  StreamId OnOpened(const std::string& from, IncomingStream& stream);
  // A whole frame that has passed its checks, and one that has not.
  void OnFrame(StreamId id, uint64_t ordinal,
               const compression::FrameHeader& header, SharedBytes payload);
  void OnCorrupt(StreamId id, uint64_t ordinal);
  void OnClosed(StreamId id);

  // Asks the receiver and counts. `answer` runs on the loop, at once or later,
  // also when the inbox is gone.
  void OnFetch(const Fetcher& fetcher, const PieceKey& key,
               BulkReceiver::FetchAnswer answer);

  void Reoffer(uint64_t job, uint32_t fragment);
  absl::btree_map<std::string, SourceCounters> counters() const;

 private:
  struct Source;

  SourceCounters& CountersOf(const std::string& from);
  void Retry();
  void Arm();

  ReceiveGateOptions options_;
  runtime::EventLoop& loop_;
  BulkReceiver& receiver_;
  // Its end tells tasks left on the loop that the inbox is gone.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  StreamId next_id_ = 0;
  // Gates refer to these, so addresses must not move.
  absl::btree_map<std::string, std::unique_ptr<SourceCounters>> sources_;
  absl::btree_map<StreamId, std::unique_ptr<Source>> streams_;
  std::optional<Instant> armed_for_;
};

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_INBOX_H_
