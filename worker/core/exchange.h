// worker/core/exchange.h
//
// Does one worker's part in one attempt (PROTOCOL 4.3): what it sends for the
// spans that it holds, what it waits for, and the pieces of the result.
//
// Every part counts once, even if it is repeated. The size of what a peer sends
// is bounded before it is kept. A span is encoded once, and its bytes live
// until the outcome is known.
#ifndef SKERRY_WORKER_CORE_EXCHANGE_H_
#define SKERRY_WORKER_CORE_EXCHANGE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/ids.h"
#include "base/instant.h"
#include "base/shared_bytes.h"
#include "compression/frame.h"
#include "protocol/exchange.h"
#include "protocol/fragment_facts.h"
#include "worker/core/effects.h"
#include "worker/core/inbox.h"
#include "worker/core/layout.h"
#include "worker/core/owed.h"
#include "worker/core/result_piece.h"
#include "worker/core/scope.h"

namespace skerry::worker {

using protocol::Hops;
using protocol::Member;
using protocol::OpenExchange;

struct ExchangePlan {
  JobId job;
  OpenExchange open;
  uint32_t self = 0;        // index of this worker's replica in open.members
  uint32_t span_begin = 0;  // held spans
  uint32_t span_end = 0;
  uint64_t part_bytes = compression::kFramePayloadBytesMax;
};

// OK when a worker that holds [begin, end) can take part. InvalidArgument says
// what in `open` does not fit a model of `layout`.
absl::Status ValidateOpen(const OpenExchange& open, const Layout& layout,
                          uint32_t begin, uint32_t end);

struct ExchangeResult {
  struct Piece {
    uint32_t span = 0;
    uint64_t hash = 0;
    SharedBytes bytes;
  };
  std::vector<Piece> pieces;  // of every held span, in order
  // The squared norm of the mean, without the spans that are averaged.
  double squared_norm = 0;
};

class Exchange {
 public:
  using OnEnd = absl::AnyInvocable<void(Instant now, absl::Status status)>;
  using OnPiece = absl::AnyInvocable<void(const ExchangeResult::Piece& piece)>;

  // `on_end` runs once: OK, result() is whole; else the attempt cannot be
  // finished here, and why. Requires: ValidateOpen() is OK; `owed[i]` belongs
  // to span_begin + i. `layout`, `bulk` and `host` outlive the exchange.
  Exchange(ExchangePlan plan, const Layout& layout, std::vector<OwedSpan> owed,
           BulkPort& bulk, HostPort& host, OnEnd on_end);

  // `on_piece` runs for each piece of the result as soon as it is made, in any
  // order. Called before Start().
  void TellPieces(OnPiece on_piece) { on_piece_ = std::move(on_piece); }
  // Encodes and sends.
  void Start();

  Attempt attempt() const { return plan_.open.attempt; }
  Sequence sequence() const { return plan_.open.sequence; }
  const ExchangePlan& plan() const { return plan_; }

  // Requires: the header is of this job and attempt.
  FrameVerdict Offer(const compression::FrameHeader& header,
                     const SharedBytes& payload);

  bool complete() const { return complete_; }
  // What this member has to sum is summed; results travel.
  bool in_second_hop() const;
  const ExchangeResult& result() const { return result_; }

  // What the outcome needs of a span; known once its bytes may have left.
  struct Sent {
    bool owned = false;
    Values error;  // owned: sum - weight * decoded
    compression::CodecId codec = compression::CodecId::kRawF32;
    SharedBytes bytes;  // else: as they were sent
  };
  std::optional<Sent> SentOf(uint32_t span) const;

  std::vector<protocol::Progress> Progress() const;
  uint64_t bytes_sent() const { return bytes_sent_; }
  uint64_t bytes_received() const { return bytes_received_; }
  uint64_t parts_repeated() const { return parts_repeated_; }

 private:
  struct Span {
    OwedSpan owed;
    bool owned = false;
    uint32_t owner = 0;
    SharedBytes encoded;  // own contribution, or as owner the mean
    bool is_encoded = false;
    Values error;
    bool working = false;  // its last step is under way, or done
    bool done = false;
    absl::btree_map<uint32_t, Inbox> from;  // by member index
    ExchangeResult::Piece piece;
    double squared_norm = 0;
  };
  struct SumTerm;
  struct Summed;
  struct Finished;

  Span& At(uint32_t span) { return spans_[span - plan_.span_begin]; }
  const Member& self() const { return plan_.open.members[plan_.self]; }
  bool one_hop() const { return plan_.open.hops == Hops::kOne; }
  // The codec of a member's frames of `span`: averaged values are not
  // compressed.
  compression::CodecId CodecOf(uint32_t span, const Member& member,
                               compression::FrameKind kind) const;

  static Summed SumAndEncode(std::span<const float> owed,
                             const std::vector<SumTerm>& terms,
                             compression::CodecId id, float weight);

  void Expect(uint32_t span);
  void EncodeOwn(uint32_t span);
  void OnEncoded(Instant now, uint32_t span, absl::StatusOr<SharedBytes> bytes);
  // Takes the last step of a span whose inputs are all here.
  void Step(uint32_t span);
  void Sum(uint32_t span);
  void OnSummed(Instant now, uint32_t span, Summed summed);
  void Finish(uint32_t span, std::vector<PiecePayload> payloads);
  void OnFinished(Instant now, uint32_t span, Finished finished);
  void Send(uint32_t span, compression::FrameKind kind, uint32_t member,
            const SharedBytes& bytes);
  void End(Instant now, absl::Status status);
  // One line for whoever asks where the time of an exchange goes.
  void Trace(std::string_view what);

  const ExchangePlan plan_;
  const Layout& layout_;
  BulkPort& bulk_;
  HostPort& host_;
  OnEnd on_end_;
  OnPiece on_piece_;
  std::vector<Span> spans_;
  ExchangeResult result_;
  bool ended_ = false;
  bool complete_ = false;
  // Spans whose contribution this worker has still to encode, and those whose
  // sum it has still to make.
  uint32_t encodes_left_ = 0;
  uint32_t sums_left_ = 0;
  uint32_t spans_done_ = 0;
  uint64_t bytes_sent_ = 0;
  uint64_t bytes_received_ = 0;
  uint64_t parts_repeated_ = 0;
  Scope scope_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_EXCHANGE_H_
