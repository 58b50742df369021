// Whatever coordinators a worker meets, and whatever journals they were started
// on, it removes a job's folder only when an operator has said so, or when the
// job has ended and its time is over. The coordinator's core and the worker's
// are the real ones.
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/random.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/orders_of.h"
#include "gtest/gtest.h"
#include "job/testing/specs.h"
#include "worker/core/state_folders.h"

namespace skerry {
namespace {

using coordinator::Cluster;
using coordinator::ClusterSnapshot;
using protocol::StoredJobKey;

constexpr int kWorkers = 3;
constexpr int kSteps = 1500;
constexpr int64_t kHourMs = 3600 * 1000;
const worker::EndedRetention kKeep{absl::Hours(48), 400};

coordinator::ClusterOptions Options() {
  coordinator::ClusterOptions options;
  // Jobs are soon forgotten.
  options.finished_jobs_max = 3;
  return options;
}

// A coordinator, and what its history says of jobs.
struct Coordinator {
  std::optional<Cluster> cluster;
  std::map<JobId, uint64_t> uids;
  std::set<JobId> live;
  std::set<JobId> ended;  // and remembered
};

struct Copy {
  ClusterSnapshot snapshot;
  std::map<JobId, uint64_t> uids;
  std::set<JobId> live;
  std::set<JobId> ended;
};

struct Worker {
  worker::StateFolders folders{kKeep};
  // By folder, when the job ended.
  std::map<StoredJobKey, int64_t> disk;
  bool away = false;
  uint64_t boot = 1;
};

class Folders {
 public:
  explicit Folders(uint64_t seed) : random_(seed), workers_(kWorkers) {
    StartAnew(ours_);
  }

  void Step() {
    now_ = now_ + absl::Minutes(1 + random_.Below(120));
    switch (random_.Below(12)) {
      case 0:
      case 1:
        return Submit();
      case 2:
      case 3:
        return Store();
      case 4:
        return End();
      case 5:
        return Delete();
      case 6:
        return Leave();
      case 7:
        return Clean();
      case 8:
        return ChangeHistory();
      default:
        return Meet(Any());
    }
  }

  // All workers meet our coordinator again, and everybody's time passes.
  void Settle() {
    if (strangers_.has_value()) Swap();
    for (int pass = 0; pass < 3; ++pass) {
      now_ = now_ + kKeep.age;
      for (Worker& worker : workers_) {
        worker.away = false;
        Meet(worker);
        Meet(worker);
      }
    }
  }

  // What must be left, and nothing else: what goes on, and what our history
  // does not know.
  void CheckSettled() {
    for (const Worker& worker : workers_) {
      for (const auto& [folder, ended] : worker.disk) {
        const auto known = ours_.uids.find(folder.job);
        const bool is_ours =
            known != ours_.uids.end() && known->second == folder.uid;
        if (is_ours && !ours_.live.contains(folder.job)) {
          Broken(folder, "stays although it is of no use");
        }
      }
    }
  }

  const std::vector<std::string>& broken() const { return broken_; }
  int removed() const { return removed_; }

 private:
  Worker& Any() { return workers_[random_.Below(kWorkers)]; }

  template <typename Set>
  std::optional<typename Set::value_type> Pick(const Set& set) {
    if (set.empty()) return std::nullopt;
    return *std::next(set.begin(), random_.Below(set.size()));
  }

  void Broken(const StoredJobKey& folder, const std::string& what) {
    broken_.push_back(absl::StrCat("job ", folder.job.value(), " ", what));
  }

  Instant Now() const { return now_; }
  int64_t UnixMs() const {
    return absl::ToInt64Milliseconds(now_.since_start());
  }

  void StartAnew(Coordinator& one) {
    one = Coordinator();
    one.cluster.emplace(Options());
    one.cluster->Recovered(Now());
  }

  void Submit() {
    const std::string name = absl::StrCat("job", ++keys_);
    const auto job = ours_.cluster->Submit(job::SmallJob(name, 100),
                                           absl::StrCat("key", keys_), Now());
    ASSERT_TRUE(job.ok()) << job.status();
    ours_.cluster->TakeRecords();
    ours_.live.insert(job->job);
    // A folder's name is what orders say; here nobody has a seat.
    const std::string key = absl::StrCat("key", keys_);
    ours_.uids[job->job] =
        CombineHash(Hash64(std::as_bytes(std::span(key))), job->job.value());
  }

  // A worker serves a job, and so has its folder.
  void Store() {
    Worker& worker = Any();
    const auto job = Pick(ours_.live);
    if (!job.has_value() || worker.away) return;
    const StoredJobKey folder{*job, ours_.uids[*job]};
    if (!worker.folders.MayOpen(folder, false)) return;
    worker.folders.OnOpened(folder);
    worker.disk.try_emplace(folder, 0);
    List(worker);
  }

  void End() {
    const auto job = Pick(ours_.live);
    if (!job.has_value()) return;
    ASSERT_TRUE(ours_.cluster->Cancel(*job, Now()).ok());
    ours_.cluster->TakeRecords();
    ours_.live.erase(*job);
    ours_.ended.insert(*job);
  }

  void Delete() {
    const auto job = Pick(ours_.ended);
    if (!job.has_value()) return;
    // It may be forgotten already.
    if (ours_.cluster->Delete(*job, Now()).ok()) {
      deleted_.insert(ours_.uids[*job]);
    }
    ours_.cluster->TakeRecords();
    ours_.ended.erase(*job);
  }

  // Goes away, comes back, or starts again with what is on its disk.
  void Leave() {
    Worker& worker = Any();
    worker.away = !worker.away;
    worker.folders.OnSessionEnd();
    if (random_.Below(2) == 0) return;
    worker.folders = worker::StateFolders(kKeep);
    ++worker.boot;
    List(worker);
  }

  void List(Worker& worker) {
    std::vector<protocol::StoredJob> all;
    for (const auto& [folder, ended] : worker.disk) {
      all.push_back({folder, 100, ended});
    }
    worker.folders.OnListed(all);
  }

  // An operator has a folder removed that the coordinator does not know.
  void Clean() {
    const int index = static_cast<int>(random_.Below(kWorkers));
    Worker& worker = workers_[index];
    Meet(worker);
    const auto folder = Pick(worker.disk);
    if (!folder.has_value()) return;
    const StoredJobKey& key = folder->first;
    const bool taken =
        ours_.cluster->RemoveStored(NameOf(worker), {&key, 1}, Now()).ok();
    if (taken) cleaned_.insert({NameOf(worker), key});
    ours_.cluster->TakeTouched();
  }

  // The coordinator is started again on its journal or on an older copy, or one
  // of another cluster takes its address.
  void ChangeHistory() {
    for (Worker& worker : workers_) worker.folders.OnSessionEnd();
    ours_.cluster->TakeRecords();
    const uint64_t what = random_.Below(4);
    if (what == 0 || strangers_.has_value()) return Swap();
    if (what == 1 || copies_.empty()) {
      copies_.push_back(
          {ours_.cluster->Save(), ours_.uids, ours_.live, ours_.ended});
      return;
    }
    const Copy& copy = copies_[random_.Below(copies_.size())];
    ours_ = {std::nullopt, copy.uids, copy.live, copy.ended};
    ours_.cluster.emplace(Options());
    ASSERT_TRUE(ours_.cluster->Restore(copy.snapshot).ok());
    ours_.cluster->Recovered(Now());
    // Whoever is told "start with a new boot" does so.
    for (Worker& worker : workers_) worker.boot += 1000;
  }

  void Swap() {
    if (!strangers_.has_value()) {
      strangers_.emplace(std::move(ours_));
      StartAnew(ours_);
    } else {
      ours_ = *std::move(strangers_);
      strangers_.reset();
    }
    for (Worker& worker : workers_) worker.boot += 1000;
  }

  std::string NameOf(const Worker& worker) const {
    return absl::StrCat("w", &worker - workers_.data());
  }

  // A Status and its orders.
  void Meet(Worker& worker) {
    if (worker.away) return;
    const protocol::StatusFacts status = StatusOf(worker);
    if (!ours_.cluster->OnStatus(status, Now()).ok()) {
      // Its lease has ended meanwhile.
      ++worker.boot;
      ASSERT_TRUE(ours_.cluster->OnStatus(StatusOf(worker), Now()).ok());
    }
    ours_.cluster->TakeRecords();
    Obey(worker);
  }

  protocol::StatusFacts StatusOf(const Worker& worker) {
    protocol::StatusFacts status;
    status.self = {NameOf(worker), NameOf(worker) + ":1", ""};
    status.island = "a";
    status.boot = Boot(worker.boot);
    status.counter = ++counter_;
    for (const protocol::StoredJob& one : worker.folders.Report()) {
      status.stored.all.push_back(one);
    }
    return status;
  }

  void Obey(Worker& worker) {
    const auto orders =
        coordinator::OrdersOf(*ours_.cluster, NameOf(worker), Now());
    ASSERT_TRUE(orders.ok());
    worker::FolderOrders said;
    for (const StoredJobKey& key : orders->ended_jobs) {
      said.ended.push_back({key.job, key.uid});
    }
    for (const StoredJobKey& key : orders->removed_jobs) {
      said.removed.push_back({key.job, key.uid});
    }
    for (const auto& job : orders->jobs) {
      if (job.phase > protocol::JobPhase::kRunning) continue;
      said.live.push_back({job.job, job.uid});
    }
    worker.folders.OnOrders(said, UnixMs());
    for (const protocol::StoredJob& mark : worker.folders.TakeMarks()) {
      worker.disk[mark.key] = mark.ended_unix_ms;
    }
    for (const StoredJobKey& folder : worker.folders.TakeRemovable(UnixMs())) {
      CheckRemoval(worker, folder);
      worker.disk.erase(folder);
      worker.folders.OnRemoved(folder, true);
      ++removed_;
    }
  }

  void CheckRemoval(const Worker& worker, const StoredJobKey& folder) {
    const StoredJobKey key{folder.job, folder.uid};
    const auto known = ours_.uids.find(folder.job);
    const bool is_ours =
        known != ours_.uids.end() && known->second == folder.uid;
    if (is_ours && ours_.live.contains(folder.job)) {
      return Broken(folder, "goes on, and its folder is removed");
    }
    if (deleted_.contains(folder.uid) ||
        cleaned_.contains({NameOf(worker), key})) {
      return;
    }
    const int64_t ended = worker.disk.at(folder);
    const bool old = ended > 0 && UnixMs() - ended >= 48 * kHourMs;
    const bool large = worker.disk.size() * 100 > kKeep.bytes;
    if (is_ours && ended > 0 && (old || large)) return;
    Broken(folder, "is removed, and nobody has said so");
  }

  Random random_;
  Instant now_{absl::Hours(1)};
  Coordinator ours_;
  // Ours, while one of another cluster has its address.
  std::optional<Coordinator> strangers_;
  std::vector<Copy> copies_;
  std::vector<Worker> workers_;
  std::set<uint64_t> deleted_;
  std::set<std::pair<std::string, StoredJobKey>> cleaned_;
  uint64_t keys_ = 0;
  uint64_t counter_ = 0;
  int removed_ = 0;
  std::vector<std::string> broken_;
};

TEST(FoldersTest, NothingThatALiveJobNeedsIsRemovedUnderAnyHistory) {
  int removed = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Folders folders(seed);
    for (int step = 0; step < kSteps; ++step) folders.Step();
    folders.Settle();
    folders.CheckSettled();
    ASSERT_TRUE(folders.broken().empty())
        << "seed " << seed << ": " << folders.broken().front();
    removed += folders.removed();
  }
  EXPECT_GT(removed, 1000);
}

}  // namespace
}  // namespace skerry
