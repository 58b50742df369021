// worker/core/seat.h
//
// Runs one job's place on one worker (PROTOCOL 4 and 6). It recovers the anchor
// of the spans that it holds, runs rounds, takes part in exchanges, stores
// results and applies what was committed.
//
// A seat is a pure, single-threaded state machine. Facts come in with the time
// at which they arrive. What it wants done goes out through Effects. Facts() is
// everything that the next Status must say. It never blocks.
//
// Promises: A committed result is applied in order, from disk, and never
// without its Commit (A1). A contribution does not change from ready to its
// outcome. Owed changes when a round ends and when an outcome is known, and
// nowhere else (A7). A life that ended leaves nothing behind but the disk.
#ifndef SKERRY_WORKER_CORE_SEAT_H_
#define SKERRY_WORKER_CORE_SEAT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/instant.h"
#include "base/shared_bytes.h"
#include "compression/frame.h"
#include "protocol/frame_verdict.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "worker/core/audit.h"
#include "worker/core/effects.h"
#include "worker/core/job_settings.h"
#include "worker/core/values.h"

namespace skerry::worker {

using protocol::FrameVerdict;
using protocol::JobFacts;
using protocol::JobOrders;

struct SeatOptions {
  JobId job;
  // This worker's name, as in PeerAddress::worker.
  std::string worker;
  // What the job's folder on disk holds; pieces are verified before use.
  std::vector<StoredFile> on_disk;
  // Number of fragments in which the model is exchanged.
  uint32_t fragments = 1;
  // The job goes on from a checkpoint, so that its trainers have an inner state
  // to begin with, or to miss.
  bool goes_on = false;
  // Time between two tries of a peer that did not answer.
  absl::Duration retry_interval = absl::Milliseconds(250);
  // Time between two tries of a disk that could not store.
  absl::Duration disk_retry_interval = absl::Seconds(5);
  // Pieces asked for at once while recovering.
  int fetches_max = 8;
  // Frames carry no more payload than this.
  uint64_t part_bytes = compression::kFramePayloadBytesMax;
};

// What a trainer says of itself when it has built the model.
struct TrainerDescription {
  uint64_t element_count = 0;
  uint64_t epoch_samples = 0;
  double flops_per_sample = 0;
  uint64_t validation_samples = 0;
  // XXH3-64 hashes of the values that the trainer begins with, and of the
  // names, shapes and order of its tensors. 0: not known.
  uint64_t initial_hash = 0;
  uint64_t layout_hash = 0;
  // The first element that is averaged; 0 when none is.
  uint64_t average_begin = 0;
  // What it can do: Evaluate, Generate, and a group of more than one.
  bool evaluates = true;
  bool generates = true;
  bool groups = true;
  // It saves and loads its inner state.
  bool saves_inner = false;
};

class Seat {
 public:
  using CutAnswer = absl::AnyInvocable<void(absl::StatusOr<CutReply>) &&>;

  // `effects` outlive the seat.
  Seat(SeatOptions options, const Effects& effects);
  ~Seat();
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // --- Facts. `now` never goes back. ---

  // Orders for the worker's current boot. A lower revision than the last is
  // ignored; the same one may come again.
  void OnOrders(Instant now, Revision revision, const JobOrders& orders,
                const JobSettings& settings);
  // A fresh trainer holds the initial values.
  void OnTrainerReady(Instant now, const TrainerDescription& trainer);
  // A base has come to the job's folder from elsewhere: state 0 of a job that
  // starts from a checkpoint. Before the first trainer is ready.
  void OnImported(Instant now, const StoredFile& base);
  // The trainer is gone: the life is over for this worker. Calls in progress
  // at the trainer may or may not still report.
  void OnTrainerFailed(Instant now, const std::string& reason);
  // The trainer was ended because WantsTrainer() said no. A fresh one may come.
  void OnTrainerEnded(Instant now);
  // The coordinator replaced this boot or ended the session for good: the life
  // is over; orders of the next boot follow.
  void OnLifeLost(Instant now, const std::string& reason);
  // No further round is started, and the life is given up at the next boundary
  // without anything owed.
  void Drain(Instant now);
  // It drains no longer.
  void Serve(Instant now);

  FrameVerdict OnFrame(Instant now, const compression::FrameHeader& header,
                       const SharedBytes& payload);
  // A peer wants a piece. NotFound: not held here.
  absl::StatusOr<SharedBytes> OnFetch(const PieceKey& key);
  // At the head, a rank of this replica asks for the cut. `answer` runs when
  // all have asked. Aborted: not this life; Unavailable: not there yet.
  void OnAgreeCut(Instant now, const CutRequest& request, CutAnswer answer);

  // The job's folder was removed, with everything that was stored in it.
  void OnFolderGone(Instant now);
  // The highest attempt of any result on disk.
  Attempt HighestAttempt() const;
  // When OnTime() next has work; the daemon arms one timer with it.
  std::optional<Instant> NextDeadline() const;
  void OnTime(Instant now);

  // --- What there is to say. ---

  // Whether the trainer is about to pass the boundary at which its inner state
  // of this sequence is saved. A checkpoint waits for it. It may come out that
  // it is not saved.
  bool AwaitsInner(Sequence sequence) const;

  // Whether a trainer process is of use: always until the job is over, and then
  // only while somebody waits for an answer that the trainer makes.
  bool WantsTrainer() const;
  // The job is over and this worker has folded and stored its last state, so
  // that nothing would be lost with this object.
  bool IsAtRest() const;

  JobFacts Facts() const;
  Audit GetAudit(uint32_t fragment = 0) const;
  // Null for a span that is not held.
  Values AnchorOf(uint32_t span, uint32_t fragment = 0) const;
  Values OwedOf(uint32_t span, uint32_t fragment = 0) const;
  // Returns a piece as OnFetch() does, but draws no conclusions from what it
  // sees.
  absl::StatusOr<SharedBytes> PieceOf(const PieceKey& key) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_SEAT_H_
