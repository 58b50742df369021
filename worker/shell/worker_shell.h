// worker/shell/worker_shell.h
//
// Everything that a worker decides outside its jobs: which orders it follows,
// what a Status says and when it is sent, under which boot the worker speaks,
// when it drains, and when it gives up.
#ifndef SKERRY_WORKER_SHELL_WORKER_SHELL_H_
#define SKERRY_WORKER_SHELL_WORKER_SHELL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/folder_id.h"
#include "base/ids.h"
#include "protocol/heard_orders.h"
#include "protocol/orders.h"
#include "protocol/peers.h"
#include "protocol/status_facts.h"
#include "runtime/event_loop.h"
#include "runtime/metrics.h"
#include "transport/bulk.h"
#include "worker/core/preemption/notice_book.h"
#include "worker/core/state_folders.h"
#include "worker/shell/folder_keeper.h"
#include "worker/shell/job.h"
#include "worker/shell/job_table.h"
#include "worker/shell/peer_access.h"
#include "worker/shell/session.h"

namespace skerry::worker {

struct ShellOptions {
  // The worker's name, which is unique in the cluster, and where others reach
  // it.
  protocol::PeerAddress self;
  std::string island;
  SessionOptions session;
  // Time between two Status messages when nothing changes, until the first
  // orders name the lease.
  absl::Duration status_interval = absl::Seconds(1);
  // Number of the state folder.
  FolderId folder;
  // Draws a boot: once when the process starts, and again when it needs a new
  // one.
  std::function<uint64_t()> draw_boot;
  // What the worker keeps of jobs that have ended.
  EndedRetention retention;
  // The wall clock.
  std::function<int64_t()> unix_ms;
  // Called when the coordinator will never admit this process.
  // FailedPrecondition: it speaks another protocol and has never admitted this
  // process; a process that it did admit tries again, since whoever replaced
  // the coordinator may put the old one back. AlreadyExists: another process
  // has this worker's name.
  std::function<void(const absl::Status& why)> on_refused;
};

// The machine around the shell: where other workers are, programs, data sets.
// Members are called on the loop.
class MachinePort {
 public:
  virtual ~MachinePort() = default;
  // Passes on what orders say of anything but jobs, before the jobs hear of
  // them.
  virtual void OnOrders(const protocol::Orders& orders) = 0;
  // The jobs of these orders have been taken up.
  virtual void OnJobsTakenUp(const protocol::Orders& orders) = 0;
  // Adds what a Status says of the machine.
  virtual void AddFacts(protocol::StatusFacts& facts) const = 0;
};

// All of it outlives the shell.
struct ShellPorts {
  runtime::EventLoop& loop;
  SessionPort& session;
  FoldersPort& folders;
  MachinePort& machine;
  MakeJob make_job;
};

// Members are called on the loop, and so are the handlers.
class WorkerShell final : public transport::BulkReceiver {
 public:
  // Start() has to follow.
  WorkerShell(ShellOptions options, ShellPorts ports);
  WorkerShell(const WorkerShell&) = delete;
  WorkerShell& operator=(const WorkerShell&) = delete;

  void Start();
  // Finishes rounds, lets the coordinator name them in a last exchange and
  // release this worker; `done` runs then, and never if it does not.
  void Drain(absl::AnyInvocable<void() &&> done);
  // Drains for `notice` and then stays, with nothing to do, for as long as the
  // machine does. With none the notice is withdrawn: the worker joins again,
  // unless Drain() was called.
  void SetNotice(const std::optional<PendingNotice>& notice);
  // Closes the session and ends all jobs; `done` runs afterwards.
  void Stop(absl::AnyInvocable<void() &&> done);

  // A Status has something new to say. One Status is sent for all changes of
  // this turn of the loop.
  void StatusChanged();
  void SetCodecSpeeds(std::vector<protocol::CodecSpeed> speeds);

  // transport::BulkReceiver.
  protocol::FrameVerdict OnFrame(const std::string& from,
                                 const compression::FrameHeader& header,
                                 const SharedBytes& payload) override;
  absl::StatusOr<SharedBytes> OnFetch(const transport::Fetcher& fetcher,
                                      const protocol::PieceKey& key) override;
  void OnDataFetch(const transport::Fetcher& fetcher,
                   const protocol::PieceKey& key, FetchAnswer answer) override;
  // What the other workers of a replica ask this one, its head. `worker` is the
  // caller's name in its certificate, and none in plaintext.
  void OnAgreeCut(JobId job, const CutRequest& request,
                  const std::optional<std::string>& worker,
                  Seat::CutAnswer answer);
  void OnMeet(JobId job, const MeetRequest& request,
              const std::optional<std::string>& worker,
              GroupMeeting::Answer answer);

  // The Status that would be sent now.
  protocol::StatusFacts Facts() const;
  const JobTable& jobs() const { return jobs_; }
  // Adds what peers were refused.
  void AddMetrics(std::vector<runtime::Metric>& metrics) const {
    access_.AddMetrics(metrics);
  }
  // OK while the coordinator answers. Unavailable, with the reason.
  absl::Status Ready() const;
  // How many sessions have ended over which orders had come.
  uint64_t sessions_lost() const { return sessions_lost_; }

 private:
  // The job of which the other worker may fetch something.
  absl::StatusOr<Job*> FindToFetch(const transport::Fetcher& fetcher, JobId id);
  // The job; Unavailable when it is not served.
  absl::StatusOr<Job*> FindServed(JobId id) const;
  void OnOrders(const protocol::HeardOrders& heard);
  void FollowJobs(const protocol::HeardOrders& heard);
  // By its own word, which holds for as long as its boot does.
  bool Leaves() const { return ends_ || notice_.has_value(); }
  void SetJobsDraining() { jobs_.SetDraining(Leaves() || told_to_drain_); }
  void OnReleased();
  void LookAtDeadline(const PendingNotice& notice);
  void OnSessionEnd(const SessionEnd& end);
  void TakeNewBoot(const std::string& reason);
  void SendStatus();
  void KeepSendingStatus();

  const ShellOptions options_;
  runtime::EventLoop& loop_;
  MachinePort& machine_;
  Session session_;
  uint64_t boot_;
  const uint64_t first_boot_;
  Incarnation incarnation_;
  Revision revision_;
  // The highest revision of any orders, whichever boot they were for.
  Revision seen_;
  uint64_t counter_ = 0;
  absl::Duration status_interval_;
  bool status_due_ = false;
  bool connected_ = false;  // orders have come over the present session
  uint64_t sessions_lost_ = 0;
  absl::Status lost_ = absl::UnavailableError("no orders have come yet");
  bool stopping_ = false;
  absl::AnyInvocable<void() &&> on_released_;
  bool ends_ = false;      // Drain() was called
  bool released_ = false;  // the newest orders say so
  std::optional<PendingNotice> notice_;
  // An operator drains the worker, as the coordinator's orders say.
  bool told_to_drain_ = false;
  FolderKeeper folders_;
  JobTable jobs_;
  PeerAccess access_;
  std::vector<protocol::CodecSpeed>
      codec_speeds_;  // empty until they are measured
  // Timers and tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_WORKER_SHELL_H_
