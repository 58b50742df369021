// coordinator/core/log/records.h
//
// Defines the records of the coordinator's journal. The index of a record is
// the number that it creates (PROTOCOL 1): JobSubmitted creates a job,
// WorkerAdmitted an incarnation, ReplicaAdmitted a life, Planned an epoch,
// Opened an attempt. The durable state is the fold of these records and nothing
// else.
#ifndef SKERRY_COORDINATOR_CORE_LOG_RECORDS_H_
#define SKERRY_COORDINATOR_CORE_LOG_RECORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/folder_id.h"
#include "base/ids.h"
#include "coordinator/core/log/join_records.h"
#include "coordinator/core/log/worker_intent.h"
#include "job/job_spec.h"
#include "protocol/contribution.h"
#include "protocol/exchange.h"
#include "protocol/job_phase.h"
#include "protocol/peers.h"
#include "protocol/seat_counters.h"

namespace skerry::coordinator {

using protocol::Hops;
using protocol::JobPhase;
using protocol::Member;
using protocol::RoundScalars;
using protocol::SeatCounters;
using protocol::SpanHolder;

struct JobSubmitted {
  // With every default filled in.
  job::JobSpec spec;
  std::string idempotency_key;
  friend bool operator==(const JobSubmitted&, const JobSubmitted&) = default;
};

struct JobEnded {
  JobId job;
  JobPhase phase = JobPhase::kFailed;
  std::string reason;
  friend bool operator==(const JobEnded&, const JobEnded&) = default;
};

// An operator has deleted a job that had ended.
struct JobDeleted {
  JobId job;
  friend bool operator==(const JobDeleted&, const JobDeleted&) = default;
};

// An operator pauses or resumes the job.
struct JobPaused {
  JobId job;
  bool paused = false;
  friend bool operator==(const JobPaused&, const JobPaused&) = default;
};

// What the first trainer said of the model. A second record of a program's job
// only takes other values to begin with (beginning.h).
struct JobSized {
  JobId job;
  uint64_t element_count = 0;
  uint64_t epoch_samples = 0;
  double flops_per_sample = 0;
  // Not there in journals before this field; 0 of a job that is not evaluated.
  std::optional<uint64_t> validation_samples = {};
  // 0 where it is not known.
  uint64_t initial_hash = 0;
  uint64_t layout_hash = 0;
  // SHA-256 of the program that this trainer ran; empty in other jobs.
  std::string program_sha256 = {};
  // The first element that is averaged; 0 when none is.
  uint64_t average_begin = 0;
  friend bool operator==(const JobSized&, const JobSized&) = default;
};

struct WorkerAdmitted {
  protocol::PeerAddress self;
  Boot boot;
  std::string island;
  std::string release;
  // As in StatusFacts.
  FolderId folder = {};
  Boot process = {};
  friend bool operator==(const WorkerAdmitted&,
                         const WorkerAdmitted&) = default;
};

struct WorkerLeft {
  std::string worker;
  Incarnation incarnation;
  std::string reason;
  friend bool operator==(const WorkerLeft&, const WorkerLeft&) = default;
};

// An operator has changed what a worker may do. It holds for every later
// process of that name too.
struct WorkerMarked {
  std::string worker;
  WorkerIntent intent = WorkerIntent::kServe;
  friend bool operator==(const WorkerMarked&, const WorkerMarked&) = default;
};

struct ReplicaAdmitted {
  JobId job;
  ReplicaId replica;
  std::string island;
  // By rank; rank 0 is the head.
  std::vector<SpanHolder> holders;
  // The incarnation of each holder, by rank.
  std::vector<Incarnation> incarnations;
  friend bool operator==(const ReplicaAdmitted&,
                         const ReplicaAdmitted&) = default;
};

struct ReplicaEnded {
  JobId job;
  Life life;
  std::string reason;
  friend bool operator==(const ReplicaEnded&, const ReplicaEnded&) = default;
};

struct Planned {
  JobId job;
  uint32_t tau = 0;
  std::string codec;
  std::string reason;
  friend bool operator==(const Planned&, const Planned&) = default;
};

struct Granted {
  JobId job;
  Life life;
  data::RangeSet ranges;
  friend bool operator==(const Granted&, const Granted&) = default;
};

// Opens an attempt. Without members it closes the open one.
struct Opened {
  JobId job;
  FragmentId fragment;
  Sequence sequence;
  // In summation order.
  std::vector<Member> members;
  // Member index of each span's owner.
  std::vector<uint32_t> owners;
  Hops hops = Hops::kTwo;
  double total_weight = 0;
  std::string reason;
  friend bool operator==(const Opened&, const Opened&) = default;
};

struct Dropped {
  JobId job;
  FragmentId fragment;
  Life life;
  Round round;
  std::string reason;
  // The contribution's ranges that its life held. They become free for other
  // lives. In a job with several fragments, they do so once every fragment has
  // dropped them.
  data::RangeSet ranges;
  friend bool operator==(const Dropped&, const Dropped&) = default;
};

struct Committed {
  JobId job;
  FragmentId fragment;
  Sequence sequence;
  Attempt attempt;
  // One hash for each span of the fragment, over the encoded bytes of its
  // result.
  std::vector<uint64_t> hashes;
  double total_weight = 0;
  RoundScalars scalars;
  friend bool operator==(const Committed&, const Committed&) = default;
};

struct Evaluated {
  JobId job;
  Sequence sequence;
  double loss = 0;
  uint64_t samples = 0;
  friend bool operator==(const Evaluated&, const Evaluated&) = default;
};

// The error of a save whose worker was lost: it is no fault of the folder.
inline constexpr char kSaverLost[] = "it was lost meanwhile";

// A checkpoint was saved, or `error` says why it was not.
struct Checkpointed {
  JobId job;
  Sequence sequence;
  std::string worker;
  std::string sha256;  // of its manifest
  uint64_t bytes = 0;
  std::string error;
  // What the state has taken in.
  data::RangeSet consumed;
  // By fragment, the samples that it lacks of the state; empty in a job with
  // one fragment.
  std::vector<data::RangeSet> lacking = {};
  friend bool operator==(const Checkpointed&, const Checkpointed&) = default;
};

// The job goes back: state `sequence` is that of the checkpoint or, without
// one, the state with which the job began. The commits since then are lost, and
// their samples are free.
struct Restored {
  JobId job;
  Sequence sequence;
  Sequence checkpoint;
  std::string reason;
  // By fragment, its newest sequence from now on. If it is empty, that is the
  // one after the newest before.
  std::vector<Sequence> fragment_sequences = {};
  // The hash of the values with which the job begins from now on. 0: those that
  // it began with before.
  uint64_t initial_hash = 0;
  friend bool operator==(const Restored&, const Restored&) = default;
};

// The index of this record is far above that of the record before it. A worker
// had been told a number that the journal has not reached, which means that an
// older journal was put in place.
struct NumbersRaised {
  std::string worker;
  Revision seen;
  friend bool operator==(const NumbersRaised&, const NumbersRaised&) = default;
};

// Workers have a history of the job that the journal does not have. The job
// stands until an operator decides.
struct Diverged {
  JobId job;
  std::string worker;
  std::string reason;
  friend bool operator==(const Diverged&, const Diverged&) = default;
};

// An operator has decided that the state that workers hold is the job's. The
// numbers are the sequences of the fragments, and the attempts whose commits
// made their states, unset where they are not known. Records of older releases
// name no attempts.
struct Adopted {
  JobId job;
  std::vector<Sequence> fragment_sequences;
  std::string reason;
  std::vector<Attempt> fragment_attempts = {};
  friend bool operator==(const Adopted&, const Adopted&) = default;
};

// The last totals that a worker said. The record is written when the worker's
// process is gone or has begun to count anew, or when the job has ended.
struct Counted {
  JobId job;
  std::string worker;
  SeatCounters counters;
  friend bool operator==(const Counted&, const Counted&) = default;
};

// A worker cannot serve the job for this reason, or can again if it is empty.
// Nothing follows from the record; it informs operators.
struct SeatNoted {
  JobId job;
  std::string worker;
  std::string reason;
  friend bool operator==(const SeatNoted&, const SeatNoted&) = default;
};

using Record =
    std::variant<JobSubmitted, JobEnded, WorkerAdmitted, ReplicaAdmitted,
                 ReplicaEnded, Planned, Granted, Opened, Dropped, Committed,
                 Evaluated, WorkerLeft, JobSized, JobPaused, WorkerMarked,
                 JobDeleted, Checkpointed, Restored, Counted, SeatNoted,
                 NumbersRaised, Diverged, Adopted, JoinChanged>;

struct Entry {
  Revision index;
  Record record;
  friend bool operator==(const Entry&, const Entry&) = default;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_LOG_RECORDS_H_
