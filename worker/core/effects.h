// worker/core/effects.h
//
// Defines what a seat asks of the world. The daemon carries it out, and tests
// and the simulator have worlds of their own.
//
// Rules for every `done`: it runs once, on the seat's loop, with the time at
// which it runs, and never inside the call that was given it. After the seat is
// destroyed none may run. A seat ignores answers that it no longer wants.
#ifndef SKERRY_WORKER_CORE_EFFECTS_H_
#define SKERRY_WORKER_CORE_EFFECTS_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/element_range.h"
#include "base/ids.h"
#include "base/instant.h"
#include "base/shared_bytes.h"
#include "compression/frame.h"
#include "data/sample_ranges.h"
#include "protocol/generate_request.h"
#include "protocol/inner_label.h"
#include "protocol/metrics.h"
#include "protocol/piece_key.h"

namespace skerry::worker {

using protocol::GenerateRequest;
using protocol::InnerLabel;
using protocol::InnerProgress;
using protocol::PieceKey;

template <typename T>
using Done = absl::AnyInvocable<void(Instant now, T result) &&>;

struct RunReport {
  uint64_t samples = 0;
  uint64_t inner_steps = 0;
  double loss = 0;  // mean over the samples, nats a token
  double gradient_norm = 0;
  double compute_s = 0;
  // The trainer does not measure a loss.
  bool no_loss = false;
  // Means over the samples of what else it measures; finite.
  protocol::Metrics metrics = {};
};

struct EvaluationReport {
  double loss = 0;
  uint64_t samples = 0;
};

// The members of this replica's group of trainers, and the elements that each
// holds.
struct TrainerGroup {
  Life life;  // names the group
  uint32_t rank = 0;
  uint32_t size = 1;
  // For each fragment, the elements that each rank holds. In rank order they
  // cover the fragment.
  std::vector<std::vector<ElementRange>> owners;
};

// Memory shared with the trainer: the flat model state, element by element.
// `owner` keeps it mapped, also when the trainer is gone.
struct TrainerMemory {
  std::shared_ptr<void> owner;
  std::span<float> values;
};

// The trainer. It does one call at a time, and the seat waits for each `done`.
// Errors: after Aborted (the call was cancelled or the group broke) the trainer
// lives; after any other the trainer is unusable and the seat asks for a new
// one.
class TrainerPort {
 public:
  virtual ~TrainerPort() = default;
  // Replaces a former group. A trainer keeps the inner state it has; in a
  // group, that of the member with most steps becomes everyone's. With size 1
  // it needs nobody.
  virtual void JoinGroup(const TrainerGroup& group,
                         Done<absl::Status> done) = 0;
  // `upcoming` probably comes next, so that its samples may be fetched ahead.
  virtual void StartRun(const data::RangeSet& ranges,
                        const data::RangeSet& upcoming,
                        uint64_t replica_batch_samples,
                        Done<absl::StatusOr<RunReport>> done) = 0;
  // The call in progress ends early, with Aborted, or as it would have.
  virtual void Cancel() = 0;
  // Live values -> memory, valid until the next call.
  virtual void Snapshot(const ElementRange& range, Done<absl::Status> done) = 0;
  // Memory -> live values, and to the group; all its ranks call it together.
  virtual void Load(const ElementRange& range, Done<absl::Status> done) = 0;
  virtual void Evaluate(uint64_t samples_max,
                        Done<absl::StatusOr<EvaluationReport>> done) = 0;
  virtual void Generate(const GenerateRequest& request,
                        Done<absl::StatusOr<std::string>> done) = 0;
  // Saves the trainer's inner state in place of what this worker has saved of
  // the job before. Requires: CanSaveInner(), which is false while the last one
  // is being made durable.
  virtual bool CanSaveInner() = 0;
  virtual void SaveInner(const InnerLabel& label, Done<absl::Status> done) = 0;
  // Has the trainer take what was saved last, or what came from a checkpoint,
  // if it is of this layout. NotFound, with a text that says why: there is
  // nothing. InvalidArgument: it is of no use.
  virtual void LoadInner(uint64_t layout_hash,
                         Done<absl::StatusOr<InnerProgress>> done) = 0;
  virtual TrainerMemory memory() = 0;
  // Ends the trainer; Seat::OnTrainerFailed follows, and with a new boot
  // Seat::OnTrainerReady. `why` is the error of a call, or Cancelled when
  // nothing is wrong with the trainer and the seat needs a fresh one.
  virtual void Restart(const absl::Status& why) = 0;
};

// Bulk bytes to and from other workers, by their names.
class BulkPort {
 public:
  virtual ~BulkPort() = default;
  // Delivers the frame until it is accepted, refused for good or forgotten. The
  // seat gets no answer. payload_bytes and payload_hash of the header are set.
  virtual void SendFrame(const std::string& worker,
                         const compression::FrameHeader& header,
                         const SharedBytes& payload) = 0;
  // Drops frames of the fragment's attempts below `attempt`, and offers again
  // what receivers were not ready for.
  virtual void ForgetBefore(uint32_t fragment, Attempt attempt) = 0;
  // One try; the bytes have `key.hash`.
  virtual void Fetch(const std::string& worker, const PieceKey& key,
                     Done<absl::StatusOr<SharedBytes>> done) = 0;
};

// One file: pieces of one base of a fragment, or of one of its results. Several
// files may hold spans of one base, and the same span may be in several.
struct StoredFile {
  struct Piece {
    uint32_t span = 0;
    uint64_t hash = 0;
    friend bool operator==(const Piece&, const Piece&) = default;
  };
  PieceKey::Kind kind = PieceKey::Kind::kBase;
  Sequence sequence;
  Attempt attempt;
  std::vector<Piece> pieces;  // ascending spans, without a gap
  uint32_t fragment = 0;
  // The hash of the initial values that a base was made of, in a job whose
  // trainers may begin with different values. 0 in all other files.
  uint64_t initial_hash = 0;
  friend bool operator==(const StoredFile&, const StoredFile&) = default;
};

// This job's folder on the worker's disk.
class DiskPort {
 public:
  virtual ~DiskPort() = default;
  // `contents[i]` belongs to `file.pieces[i]`. `done` with OK means durable:
  // file and directory are synced. Replaces a file with the same fragment,
  // kind, sequence, attempt, initial values, first and last span, and no other.
  // With an error nothing of it is there.
  virtual void Store(const StoredFile& file, std::vector<SharedBytes> contents,
                     Done<absl::Status> done) = 0;
  // Says that Store() will be given `content` as the piece `index` of `file`,
  // unless the file is given up. The disk may begin to write it. `file` is as
  // Store() will have it, except for the hashes of its pieces, which need not
  // be known yet. Pieces come in any order, each once. A disk prepares one file
  // of a fragment at a time; the next one takes its place.
  virtual void StoreAhead(const StoredFile& file, size_t index,
                          const SharedBytes& content) {}
  // A piece of a stored file; cheap (it maps, and does not read), and not
  // verified. NotFound, DataLoss.
  virtual absl::StatusOr<SharedBytes> Map(const StoredFile& file,
                                          uint32_t span) = 0;
  // Bytes that were mapped stay readable.
  virtual void Delete(const StoredFile& file) = 0;
};

struct CutRequest {
  Life life;
  uint32_t rank = 0;
  Round round;                           // that would start, or go on
  std::vector<Sequence> stored_through;  // by fragment
  // This rank can stop at apply points.
  bool stops = false;
  friend bool operator==(const CutRequest&, const CutRequest&) = default;
};

struct FragmentCut {
  uint32_t fragment = 0;
  Sequence sequence;
  // In a reply with `runs`: nothing of this replica is on its way once the
  // sequence is applied. Its newest contribution is in a result through it or
  // was dropped, or there is none.
  bool back = false;
  friend bool operator==(const FragmentCut&, const FragmentCut&) = default;
};

struct CutReply {
  Epoch epoch;
  // Apply exactly through these, and leave other fragments as they are.
  std::vector<FragmentCut> cuts;
  // The round's samples. At a boundary, empty: apply, and ask again. At an
  // apply point always empty.
  data::RangeSet ranges;
  uint32_t turn = 0;       // the fragment whose boundary ends the round
  bool at_anchor = false;  // load anchors, whatever the merge rule
  // Without samples: the round ends at once, and its fragment delivers.
  bool deliver = false;
  // In so many runs is the rest of the round made, with an apply point between
  // two. 0: in one, by a head that says nothing of `back`.
  uint32_t runs = 0;
  friend bool operator==(const CutReply&, const CutReply&) = default;
};

class PeerPort {
 public:
  virtual ~PeerPort() = default;
  // Asks the head of this replica, which is a worker of this name. Waits as
  // long as the head has no answer. Aborted: not the head's life. Unavailable
  // and all else: the seat asks again.
  virtual void AgreeCut(const std::string& head, const CutRequest& request,
                        Done<absl::StatusOr<CutReply>> done) = 0;
};

class HostPort {
 public:
  virtual ~HostPort() = default;
  // Runs `work` on any thread, then `done` on the loop. `work` owns or keeps
  // alive what it reads and writes.
  virtual void Compute(absl::AnyInvocable<void() &&> work,
                       absl::AnyInvocable<void(Instant now) &&> done) = 0;
  // Facts() has changed.
  virtual void StatusChanged() = 0;
  // One line for the log: something that operators want to know has changed.
  virtual void Event(std::string_view line) = 0;
  // One line for whoever follows a single round: every round has several.
  virtual void Trace(std::string_view line) = 0;
};

// All of them outlive the seat.
struct Effects {
  TrainerPort& trainer;
  BulkPort& bulk;
  DiskPort& disk;
  PeerPort& peers;
  HostPort& host;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_EFFECTS_H_
