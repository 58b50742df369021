// worker/daemon/job_data.h
//
// Makes one job's data set available on this worker, and gives it to other
// workers of the job. A set in a folder of this worker is used there. One that
// is in an object store, or in folders of other workers only, is brought into
// the cache before a trainer starts; if that fails, it is tried again until it
// succeeds.
#ifndef SKERRY_WORKER_DAEMON_JOB_DATA_H_
#define SKERRY_WORKER_DAEMON_JOB_DATA_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/ids.h"
#include "job/job_spec.h"
#include "runtime/blob_stores.h"
#include "runtime/event_loop.h"
#include "transport/bulk.h"
#include "worker/daemon/data_cache.h"
#include "worker/daemon/data_files.h"
#include "worker/daemon/data_server.h"
#include "worker/daemon/peer_source.h"
#include "worker/shell/job_ports.h"

namespace skerry::worker {

// All of it outlives the data of a job.
struct JobDataOptions {
  DataCache& cache;
  DataServer& server;
  runtime::BlobStores& places;
  runtime::EventLoop& loop;
  AskWorker ask;
};

// Members are called on the loop, and so are the handlers.
class JobData final : public DataPort {
 public:
  // `changed` runs when the data are there, with OK, or when they could not be
  // brought here; `told` when has_data() or news() say something else.
  JobData(JobId job, const job::JobSpec& spec, const JobDataOptions& options,
          std::function<void(const absl::Status& outcome)> changed,
          std::function<void()> told);
  ~JobData() override;

  void LookOnce() override;
  // A folder is given to the trainer although it lacks the set if after
  // kHoldersWithin no other worker is known to have it: the trainer says what
  // is wrong with the folder.
  bool Take() override;
  static constexpr absl::Duration kHoldersWithin = absl::Seconds(2);
  void Release() override;
  bool OnHolders(const std::vector<std::string>& holders) override;

  // The job's folder, or one in the cache.
  const std::string& folder() const override { return folder_; }
  bool is_verified() const override { return in_cache_; }
  std::string failure() const override;
  std::string news() const override;
  bool is_fetching() const override { return is_waiting_; }

  bool has_data() const override { return given_.has_value(); }
  // Errors: NotFound, this worker does not have that set or file; Unavailable,
  // it has not looked yet and the other may ask again; those of
  // DataServer::Read.
  void Give(const protocol::PieceKey& key,
            transport::BulkReceiver::FetchAnswer answer) override;

 private:
  // Files that others may have.
  struct Given {
    std::string folder;
    std::vector<DataFile> files;
  };

  // Looks at the job's folder.
  void Look();
  void OnLooked(DataServer::Found found);
  // Waits for other workers to say that they have the set.
  void AwaitHolders();
  void UseFolder();
  // Has the cache bring the set here.
  void Fetch();
  void Ask();
  void OnAsked(const absl::Status& outcome);
  void GiveFromCache();
  void SetGiven(std::optional<Given> given);
  void SetWaiting(bool waiting);
  // Runs `task` then, instead of what it was called with before, unless the
  // data are released or fetched before.
  void Later(absl::Duration wait, std::function<void()> task);
  std::string OriginsText() const;

  const JobId job_;
  const std::string place_;
  const std::string manifest_sha256_;
  const bool in_store_;
  // Whether the set is in a folder of some worker: not so in a job with a
  // program, which opens its data by itself.
  const bool in_folder_;
  const JobDataOptions options_;
  const std::function<void(const absl::Status& outcome)> changed_;
  const std::function<void()> told_;
  const std::shared_ptr<DataHolders> holders_ = std::make_shared<DataHolders>();
  std::string folder_;
  bool in_cache_ = false;
  std::optional<Given> given_;
  bool is_looking_ = false;
  bool has_looked_ = false;  // at least once
  // The folder was looked at since data were last released, and lacks the set.
  bool folder_lacks_ = false;
  // While a trainer reads the data, or they are on their way.
  std::unique_ptr<DataCache::Use> use_;
  std::shared_ptr<PeerSource> peers_;  // that `use_` fetches from
  bool is_here_ = false;
  // Take was called, and the data are not here yet.
  bool is_wanted_ = false;
  bool is_waiting_ = false;  // for the cache
  // The cache lacked something when it was asked first.
  bool lacks_files_ = false;
  std::string failure_;  // of the last try
  absl::Duration wait_;  // before the next one
  // What Later is to run sees it expired when it is not wanted any more.
  std::shared_ptr<char> timer_;
  // Replaced by Release: tasks of before see it expired.
  std::shared_ptr<char> current_ = std::make_shared<char>();
  // Tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_DATA_H_
