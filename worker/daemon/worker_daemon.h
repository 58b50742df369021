// worker/daemon/worker_daemon.h
//
// Runs a worker: one session with the coordinator, and a seat for every job
// that the coordinator's orders name.
#ifndef SKERRY_WORKER_DAEMON_WORKER_DAEMON_H_
#define SKERRY_WORKER_DAEMON_WORKER_DAEMON_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/folder_id.h"
#include "base/ids.h"
#include "proto/skerry/v1/peer.pb.h"
#include "protocol/convert/orders.h"
#include "protocol/status_facts.h"
#include "runtime/machine.h"
#include "runtime/metrics.h"
#include "transport/bulk.h"
#include "worker/core/preemption/notice_book.h"
#include "worker/daemon/codec_speeds.h"
#include "worker/daemon/data_looks.h"
#include "worker/daemon/folder_keeper.h"
#include "worker/daemon/job_environment.h"
#include "worker/daemon/peer_access.h"
#include "worker/daemon/peer_service.h"
#include "worker/daemon/peer_tries.h"
#include "worker/daemon/piece_sender.h"
#include "worker/daemon/revoked_orders.h"
#include "worker/daemon/session_client.h"
#include "worker/shell/job.h"

namespace skerry::worker {

struct WorkerOptions {
  // Unique in the cluster; letters, digits, '-', '_' and '.'.
  std::string name;
  std::string island;
  // host:port as workers of other islands, and of this one, reach it.
  std::string address;
  std::string island_address;
  // More of `address`, in order of preference.
  std::vector<std::string> more_addresses;
  // Workers of other islands cannot dial it.
  bool outbound_only = false;
  // It passes frames and fetches on between workers that cannot be dialled.
  bool relay = false;
  SessionOptions session;
  // How it finds out whether it can dial others.
  DialPeer dial_peer;
  // Time between two Status messages when nothing changes, until the first
  // orders name the lease.
  absl::Duration status_interval = absl::Seconds(1);
  // Number of the state folder (folder_id.h).
  FolderId folder;
  // Draws a boot: once when the process starts, and again when it needs a new
  // one.
  absl::AnyInvocable<uint64_t()> draw_boot;
  // Looks at this machine. Every Status says what it found.
  runtime::LookAtMachine look;
  // What the worker keeps of jobs that have ended.
  EndedRetention retention;
  // Called when the coordinator will never admit this process.
  // FailedPrecondition: it speaks another protocol and has never admitted this
  // process; a process that it did admit tries again, since whoever replaced
  // the coordinator may put the old one back. AlreadyExists: another process
  // has this worker's name.
  absl::AnyInvocable<void(const absl::Status& why)> on_refused;
};

// Members are called on the loop, and so are the handlers. worker_peers.cc has
// what other workers of a replica ask.
class WorkerDaemon final : public transport::BulkReceiver, public PeerReceiver {
 public:
  // `environment.loop` runs already. Start() has to follow.
  WorkerDaemon(WorkerOptions options, const JobEnvironment& environment);
  ~WorkerDaemon() override;

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

  // transport::BulkReceiver.
  FrameVerdict OnFrame(const std::string& from,
                       const compression::FrameHeader& header,
                       const SharedBytes& payload) override;
  absl::StatusOr<SharedBytes> OnFetch(const transport::Fetcher& fetcher,
                                      const PieceKey& key) override;
  void OnDataFetch(const transport::Fetcher& fetcher, const PieceKey& key,
                   FetchAnswer answer) override;
  // PeerReceiver.
  void OnAgreeCut(const v1::AgreeCutRequest& request,
                  const std::optional<std::string>& worker,
                  Answer<v1::AgreeCutReply> answer) override;
  void OnMeet(const v1::MeetRequest& request,
              const std::optional<std::string>& worker,
              Answer<v1::MeetReply> answer) override;

  // What there is to tell Prometheus.
  std::vector<runtime::Metric> Metrics() const;
  // OK while the coordinator answers. Unavailable, with the reason.
  absl::Status Ready() const;

 private:
  // The job of which the other worker may fetch something.
  absl::StatusOr<Job*> FindToFetch(const transport::Fetcher& fetcher, JobId id);
  void OnOrders(const protocol::HeardOrders& heard);
  void OnJobOrders(Revision revision, const protocol::JobOrders& orders);
  // What is served already goes on; what is not is said to wait.
  void Refuse(const protocol::HeardOrders::Refused& refused);
  // Whether the job's folder can be used; if not, it is tried again later.
  bool StartJob(Job& job, uint64_t id);
  FolderKeeperOptions KeepFolders();
  void StopServing(const StoredJobKey& folder);
  // Whether a job that is not served yet is taken up now.
  bool MayTakeUp(const protocol::JobOrders& orders);
  // By its own word, which holds for as long as its boot does.
  bool Leaves() const { return ends_ || notice_.has_value(); }
  void SetJobsDraining();
  void OnReleased();
  void LookAtDeadline(const PendingNotice& notice);
  void OnSessionEnd(const SessionEnd& end);
  void TakeNewBoot(const std::string& reason);
  // Sends one Status for all changes of this turn of the loop.
  void StatusChanged();
  protocol::StatusFacts Facts() const;
  void SendStatus();
  void KeepSendingStatus();

  WorkerOptions options_;
  const JobEnvironment environment_;
  SessionClient session_;
  uint64_t boot_;
  DataLooks data_;
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
  absl::btree_map<uint64_t, std::unique_ptr<Job>> jobs_;
  // A job that this worker cannot serve now.
  struct Unserved {
    std::string reason;
    // It is tried again then, after so long a wait.
    Instant next_try;
    absl::Duration wait;
  };
  absl::btree_map<uint64_t, Unserved> unserved_;
  FolderKeeper folders_;
  PeerAccess access_;
  RevokedOrders revoked_;
  PeerTries tries_;
  PieceSender pieces_;
  std::vector<protocol::CodecSpeed>
      codec_speeds_;  // empty until they are measured
  // Timers and tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_WORKER_DAEMON_H_
