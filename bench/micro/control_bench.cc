// What the decisions of the coordinator's core cost for each worker of one job,
// by the number of workers. Fake workers go through whole exchanges: they offer
// their rounds, report results and apply the commit. The core's calls are
// timed, with the orders that it writes; the workers, the journal and the wire
// are not. If the cost for each worker grows with their number, some step of a
// commit is quadratic.
//
// The workers' reports of one step arrive evenly over it. As in the
// coordinator's shell, those that arrive while a batch is decided and written
// are the next batch.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/random.h"
#include "bench/micro/bench_rows.h"
#include "bench/micro/bench_setup.h"
#include "bench/micro/fake_rounds.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/testing/fake_worker.h"
#include "job/testing/specs.h"

namespace skerry::bench {
namespace {

using coordinator::Cluster;
using coordinator::ClusterOptions;
using coordinator::FakeWorker;

// Workers that share an island, as the GPUs of one host.
constexpr size_t kIslandWorkers = 8;
constexpr uint64_t kSeed = 1;
// A job may not ask for more.
constexpr size_t kReplicasMin = 64;
constexpr double kStepS = 0.1;
// What it takes to make a batch durable.
constexpr double kSyncS = 2e-3;

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * now.tv_nsec;
}

ClusterOptions Options(size_t workers) {
  ClusterOptions options;
  options.workers_max = workers + 1;
  return options;
}

class Job {
 public:
  explicit Job(size_t workers) : cluster_(Options(workers)) {
    cluster_.Recovered(now_);
    for (size_t i = 0; i < workers; ++i) {
      auto worker = std::make_unique<FakeWorker>(
          absl::StrCat("w", i), absl::StrCat("i", i / kIslandWorkers));
      worker->Start(random_, now_);
      by_name_[worker->name()] = worker.get();
      workers_.push_back(std::move(worker));
    }
    for (const auto& worker : workers_) Say(*worker);
    Follow();
    job::JobSpec spec = job::SmallJob("many", uint64_t{1} << 40);
    spec.placement.workers_min = static_cast<uint32_t>(workers);
    spec.exchange.min_replicas = static_cast<uint32_t>(std::min(
        kReplicasMin, (workers + kIslandWorkers - 1) / kIslandWorkers));
    SKERRY_CHECK(cluster_.Submit(spec, "key", now_).ok());
    Follow();
  }

  // Runs until so many exchanges are committed, and returns the seconds that
  // the core took for it.
  double Commit(uint64_t commits) {
    const uint64_t wanted = Newest() + commits;
    const double before = spent_s_;
    for (int step = 0; Newest() < wanted; ++step) {
      SKERRY_CHECK(step < 2000);
      now_ = now_ + absl::Seconds(kStepS);
      for (const auto& worker : workers_) {
        FollowOrders(*worker);
        TrainRound(*worker);
      }
      SayAll();
      const auto due = cluster_.NextDeadline();
      if (due.has_value() && *due <= now_) {
        Timed([&] { cluster_.Tick(now_); });
        Follow();
      }
    }
    return spent_s_ - before;
  }

 private:
  template <typename Work>
  void Timed(const Work& work) {
    const double begun = ThreadSeconds();
    work();
    spent_s_ += ThreadSeconds() - begun;
  }

  void SayAll() {
    const double apart_s = kStepS / static_cast<double>(workers_.size());
    double clock_s = 0;
    size_t said = 0;
    while (said < workers_.size()) {
      clock_s = std::max(clock_s, apart_s * static_cast<double>(said));
      const double before = spent_s_;
      while (said < workers_.size() &&
             apart_s * static_cast<double>(said) <= clock_s) {
        Say(*workers_[said++]);
      }
      Follow();
      clock_s += kSyncS + spent_s_ - before;
    }
  }

  void Say(FakeWorker& worker) {
    const protocol::StatusFacts facts = worker.Status();
    Timed([&] { SKERRY_CHECK(cluster_.OnStatus(facts, now_).ok()); });
    touched_.push_back(worker.name());
  }

  // Gives their orders to all whose orders may have changed, as the shell does.
  void Follow() {
    std::vector<std::string> touched;
    Timed([&] {
      cluster_.TakeRecords();
      touched = cluster_.TakeTouched();
    });
    touched.insert(touched.end(), touched_.begin(), touched_.end());
    touched_.clear();
    double workers_s = 0;
    Timed([&] {
      cluster_.WriteOrders(
          touched, now_,
          [&](const std::string& name, const protocol::Orders& orders) {
            const double begun = ThreadSeconds();
            for (const protocol::JobOrders& job : orders.jobs) {
              newest_ = std::max(newest_, job.fragments[0].newest.value());
            }
            by_name_.at(name)->OnOrders(orders, random_, now_);
            workers_s += ThreadSeconds() - begun;
          });
    });
    spent_s_ -= workers_s;
  }

  uint64_t Newest() const { return newest_; }

  Instant now_;
  Random random_{kSeed};
  Cluster cluster_;
  std::vector<std::unique_ptr<FakeWorker>> workers_;
  std::map<std::string, FakeWorker*> by_name_;
  std::vector<std::string> touched_;
  double spent_s_ = 0;
  uint64_t newest_ = 0;
};

int Main(bool quick, const char* json) {
  BenchRows rows(json);
  double few = 0;
  for (const size_t workers :
       quick ? std::vector<size_t>{64, 128}
             : std::vector<size_t>{64, 256, 1000, 10'000}) {
    Job job(workers);
    job.Commit(2);  // all are admitted
    const uint64_t commits = quick ? 3 : 5;
    const double us =
        1e6 * job.Commit(commits) / static_cast<double>(commits * workers);
    const std::string name = absl::StrCat("commit/", workers);
    if (few == 0) {
      few = us;
      rows.AddContext(name, us, "us a worker");
    } else {
      rows.Compare(name, us, "us a worker", "64 workers", few, "<=2");
    }
  }
  return 0;
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) {
  const auto flags = skerry::bench::ReadBenchFlags(argc, argv, "control_bench");
  if (!flags.has_value()) return 2;
  return skerry::bench::Main(flags->quick, flags->json);
}
