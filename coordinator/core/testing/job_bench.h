// coordinator/core/testing/job_bench.h
//
// Runs the rules of one job for tests. A test puts in facts by hand, calls one
// rule, and looks at the records that it decided.
#ifndef SKERRY_COORDINATOR_CORE_TESTING_JOB_BENCH_H_
#define SKERRY_COORDINATOR_CORE_TESTING_JOB_BENCH_H_

#include <functional>
#include <string>
#include <vector>

#include "coordinator/core/state/job_state.h"
#include "job/testing/specs.h"

namespace skerry::coordinator {

class JobBench {
 public:
  explicit JobBench(job::JobSpec spec = job::SmallJob("bench", 1000));
  JobBench(const JobBench&) = delete;

  // Emits; the index is the number created.
  uint64_t Emit(Record record);
  Decider decider() { return {now, options, workers, turn_, emit_}; }

  // A registered worker, heard of now.
  Incarnation AddWorker(const std::string& name, const std::string& island);
  // Sizes the job to 8 spans.
  void Size();
  // A current life of `names`, which are added when they are unknown, with two
  // rounds of samples granted and facts that say that it computes.
  Life AddReplica(const std::string& island,
                  const std::vector<std::string>& names);
  // The worker's facts of the job, made when there are none.
  JobFacts& Facts(const std::string& name);
  FragmentFacts& Fragment(const std::string& name, uint64_t fragment = 0);
  // The worker offers these samples of its life's round.
  void Offer(const std::string& name, uint64_t round, uint64_t base,
             data::SampleRange range, uint64_t fragment = 0);
  // The worker has the result of the open attempt on disk.
  void Report(const std::string& name, uint64_t hash, uint64_t index = 0);

  template <typename T>
  std::vector<T> Decided() const {
    std::vector<T> found;
    for (const Entry& entry : records) {
      if (const T* record = std::get_if<T>(&entry.record)) {
        found.push_back(*record);
      }
    }
    return found;
  }

  ClusterOptions options;
  Instant now;
  WorkerTable workers;
  std::vector<Entry> records;
  JobState job;

 private:
  uint64_t next_ = 2;
  std::function<Turn(JobId)> turn_ = [](JobId) { return Turn(); };
  std::function<void(Record)> emit_ = [this](Record record) {
    Emit(std::move(record));
  };
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_TESTING_JOB_BENCH_H_
