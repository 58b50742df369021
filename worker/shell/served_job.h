// worker/shell/served_job.h
//
// Serves one job that the coordinator's orders name, awake or asleep. Until the
// job ends, and for a while afterwards, it is a JobShell. A job that has
// ended and that nobody uses falls asleep: it gives up its memory and keeps the
// files on the disk, the newest orders and the last Status. A prompt, a peer
// that fetches something, or orders for more work wake it.
#ifndef SKERRY_WORKER_SHELL_SERVED_JOB_H_
#define SKERRY_WORKER_SHELL_SERVED_JOB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "protocol/job_facts.h"
#include "protocol/job_orders.h"
#include "worker/shell/job.h"
#include "worker/shell/job_machine.h"
#include "worker/shell/job_shell.h"

namespace skerry::worker {

// Members are called on the loop, and so is the handler.
class ServedJob final : public Job {
 public:
  // `orders` are the first that name the job. `status_changed` is called when
  // Facts() says something new. What `machine` refers to outlives the object.
  ServedJob(const protocol::JobOrders& orders, const JobMachine& machine,
            std::function<void()> status_changed);
  ServedJob(const ServedJob&) = delete;
  ServedJob& operator=(const ServedJob&) = delete;

  // Errors: those of the disk; the job cannot be served then.
  absl::Status Start() override;
  // Errors: InvalidArgument, the orders make no sense; those of the disk, when
  // the job cannot wake. They are not followed.
  absl::Status OnOrders(Revision revision,
                        const protocol::JobOrders& orders) override;
  void OnBootChanged(const std::string& reason) override;
  void SetDraining(bool draining) override;

  FrameVerdict OnFrame(const compression::FrameHeader& header,
                       const SharedBytes& payload) override;
  absl::StatusOr<SharedBytes> OnFetch(const PieceKey& key) override;
  void OnDataFetch(const PieceKey& key,
                   transport::BulkReceiver::FetchAnswer answer) override;
  void OnAgreeCut(const CutRequest& request, Seat::CutAnswer answer) override;
  void OnMeet(const MeetRequest& request, GroupMeeting::Answer answer) override;

  // The job had ended before this process knew of it, and is being read from
  // the disk, which takes memory.
  bool IsBeingRead() const override { return had_ended_ && shell_ != nullptr; }

  protocol::JobFacts Facts() const override;
  uint64_t uid() const override { return orders_.uid; }
  const std::string& name() const override { return orders_.spec.name; }
  // The highest number of the coordinator's that its files name.
  uint64_t highest_number() const override {
    return shell_ == nullptr ? highest_number_ : shell_->highest_number();
  }
  // Its codecs are chosen by links and machines.
  bool codecs_by_policy() const override;
  // The sequence that is a checkpoint's state, when the job has gone back. When
  // orders name another one, this object is of no use any more.
  Sequence restored() const override { return RestoredAt(orders_); }

  // Null while it sleeps.
  JobShell* shell() const { return shell_.get(); }

 private:
  absl::Status Wake();
  // Whether the newest orders ask for something that needs the seat.
  bool HasWork() const;
  // Looks, once the job has been idle for long enough, whether it can sleep.
  void SleepLater();

  const JobMachine machine_;
  const std::function<void()> status_changed_;
  // The newest of a job that has ended, else the first.
  protocol::JobOrders orders_;
  Revision revision_;
  bool draining_ = false;
  // True until it sleeps for the first time, if the job had ended before this
  // process knew of it.
  bool had_ended_;
  bool looks_later_ = false;
  // The highest number of the coordinator's that its files named when it fell
  // asleep.
  uint64_t highest_number_ = 0;
  // Null while it sleeps; `last_` is what it says then.
  std::unique_ptr<JobShell> shell_;
  protocol::JobFacts last_;
  // Timers that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_SERVED_JOB_H_
