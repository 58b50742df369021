// worker/shell/job.h
//
// One job that a worker serves, as the worker sees it.
#ifndef SKERRY_WORKER_SHELL_JOB_H_
#define SKERRY_WORKER_SHELL_JOB_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/shared_bytes.h"
#include "compression/frame.h"
#include "protocol/frame_verdict.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "protocol/piece_key.h"
#include "transport/bulk.h"
#include "worker/core/effects.h"
#include "worker/core/group_meeting.h"
#include "worker/core/seat.h"

namespace skerry::worker {

// Members are called on the loop.
class Job {
 public:
  virtual ~Job() = default;

  // Called once, first. Errors: those of the disk; the job cannot be served
  // then.
  virtual absl::Status Start() = 0;
  // Errors: InvalidArgument, the orders make no sense; those of the disk, when
  // the job cannot wake. They are not followed.
  virtual absl::Status OnOrders(Revision revision,
                                const protocol::JobOrders& orders) = 0;
  // The worker takes a new boot; `reason` says why.
  virtual void OnBootChanged(const std::string& reason) = 0;
  virtual void SetDraining(bool draining) = 0;

  virtual protocol::FrameVerdict OnFrame(const compression::FrameHeader& header,
                                         const SharedBytes& payload) = 0;
  virtual absl::StatusOr<SharedBytes> OnFetch(
      const protocol::PieceKey& key) = 0;
  virtual void OnDataFetch(const protocol::PieceKey& key,
                           transport::BulkReceiver::FetchAnswer answer) = 0;
  virtual void OnAgreeCut(const CutRequest& request,
                          Seat::CutAnswer answer) = 0;
  virtual void OnMeet(const MeetRequest& request,
                      GroupMeeting::Answer answer) = 0;

  // The job had ended before this process knew of it, and is being read from
  // the disk, which takes memory.
  virtual bool IsBeingRead() const = 0;
  virtual protocol::JobFacts Facts() const = 0;
  virtual uint64_t uid() const = 0;
  virtual const std::string& name() const = 0;
  // The highest number of the coordinator's that its files name.
  virtual uint64_t highest_number() const = 0;
  // Its codecs are chosen by links and machines.
  virtual bool codecs_by_policy() const = 0;
  // The sequence that is a checkpoint's state, when the job has gone back. When
  // orders name another one, this object is of no use any more.
  virtual Sequence restored() const = 0;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_JOB_H_
