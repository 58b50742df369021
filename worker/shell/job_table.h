// worker/shell/job_table.h
//
// Decides which jobs a worker serves. It takes up what orders name and gives up
// what they do not name any more. A job that cannot be served is tried again
// after a wait.
#ifndef SKERRY_WORKER_SHELL_JOB_TABLE_H_
#define SKERRY_WORKER_SHELL_JOB_TABLE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "base/instant.h"
#include "protocol/heard_orders.h"
#include "protocol/job_orders.h"
#include "protocol/status_facts.h"
#include "runtime/event_loop.h"
#include "worker/shell/folder_keeper.h"
#include "worker/shell/job.h"

namespace skerry::worker {

// Makes a job that the first orders which name it are about. The job calls
// `status_changed` when Facts() says something new.
using MakeJob = std::function<std::unique_ptr<Job>(
    const protocol::JobOrders& orders, std::function<void()> status_changed)>;

// Members are called on the loop, and so is the handler.
class JobTable {
 public:
  // `loop` and `folders` outlive the table.
  JobTable(runtime::EventLoop& loop, FolderKeeper& folders, MakeJob make,
           std::function<void()> status_changed);

  void OnOrders(Revision revision, const protocol::JobOrders& orders);
  // What is served already goes on; what is not is said to wait.
  void Refuse(const protocol::HeardOrders::Refused& refused);
  // Orders are complete: a job that they do not name is none of this worker's
  // any more.
  void KeepOnly(const std::set<uint64_t>& named);
  void StopServing(const StoredJobKey& folder);
  void Clear() { jobs_.clear(); }
  void OnBootChanged(const std::string& reason);
  // Holds for jobs that are taken up later, too.
  void SetDraining(bool draining);

  // Null when it is not served.
  Job* Find(uint64_t job) const;
  const absl::btree_map<uint64_t, std::unique_ptr<Job>>& jobs() const {
    return jobs_;
  }
  // Adds what a Status says of jobs, and raises `facts.seen` to what their
  // files name. `speeds` are those of this machine's codecs; empty until they
  // are measured.
  void AddFacts(const std::vector<protocol::CodecSpeed>& speeds,
                protocol::StatusFacts& facts) const;

 private:
  // A job that this worker cannot serve now.
  struct Unserved {
    std::string reason;
    // It is tried again then, after so long a wait.
    Instant next_try;
    absl::Duration wait;
  };

  // Gives up what is served under that number and is of no use any more.
  void DropFormer(const protocol::JobOrders& orders);
  // Whether a job that is not served yet is taken up now.
  bool MayTakeUp(const protocol::JobOrders& orders);
  // Null when it cannot be served; it is tried again later.
  std::unique_ptr<Job> TakeUp(const protocol::JobOrders& orders);
  void OnUnserved(uint64_t id, const absl::Status& why);

  runtime::EventLoop& loop_;
  FolderKeeper& folders_;
  const MakeJob make_;
  const std::function<void()> status_changed_;
  bool draining_ = false;
  absl::btree_map<uint64_t, std::unique_ptr<Job>> jobs_;
  absl::btree_map<uint64_t, Unserved> unserved_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_JOB_TABLE_H_
