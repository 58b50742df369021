#include "coordinator/core/rules/tries.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/state/reach_table.h"

namespace skerry::coordinator {
namespace {

using protocol::TryOrder;

class Chooser {
 public:
  Chooser(const WorkerTable& workers, const Worker& reader)
      : workers_(workers), reader_(reader) {}

  void BeginKind() { left_ = kTriesOfAKind; }
  bool full() const { return left_ == 0; }
  // Null: nobody.
  void Add(const Worker* worker, bool again = false) {
    if (full() || worker == nullptr || worker->island == reader_.island ||
        worker->self.outbound_only) {
      return;
    }
    const auto has_it = [&](const TryOrder& order) {
      return order.worker == worker->self.worker;
    };
    if (std::any_of(orders_.begin(), orders_.end(), has_it)) return;
    orders_.push_back({worker->self.worker, worker->incarnation,
                       worker->self.outside(), again});
    --left_;
  }
  void Add(const std::string& name, bool again = false) {
    Add(workers_.FindCurrent(name), again);
  }
  std::vector<TryOrder> Take() { return std::move(orders_); }

 private:
  const WorkerTable& workers_;
  const Worker& reader_;
  std::vector<TryOrder> orders_;
  size_t left_ = 0;
};

// The reader's counterpart in each of the replicas after its own.
void AddCounterparts(const JobState& job, const std::string& name,
                     Chooser& chooser) {
  const Replica* const own = job.replicas.FindWorker(name);
  if (own == nullptr) return;
  const auto& all = job.replicas.current();
  const auto begin = all.find(own->life);
  for (auto it = std::next(begin); it != begin && !chooser.full();) {
    if (it == all.end()) {
      it = all.begin();
      continue;
    }
    const auto& holders = it->second.holders;
    const auto rank = static_cast<size_t>(own->RankOf(name));
    if (!holders.empty()) {
      chooser.Add(holders[rank % holders.size()].peer.worker);
    }
    ++it;
  }
}

void AddNeighbours(const WorkerTable& workers, const Worker& reader,
                   Chooser& chooser) {
  const auto& ring = workers.ring();
  const auto begin = ring.find(WorkerTable::RingPlace(reader.self.worker));
  if (begin == ring.end()) return;
  auto it = begin;
  for (size_t i = 0; i < kRingSteps && !chooser.full(); ++i) {
    if (++it == ring.end()) it = ring.begin();
    if (it == begin) return;
    chooser.Add(it->second);
  }
}

}  // namespace

std::vector<TryOrder> TriesFor(const JobTable& jobs, const WorkerTable& workers,
                               const Worker& worker) {
  Chooser chooser(workers, worker);
  const std::string& name = worker.self.worker;
  // Before the other kinds, which would name them without `again`.
  chooser.BeginKind();
  for (const auto& [finder, finding] : workers.reach().Of(name)) {
    if (!finding.tried.ok()) chooser.Add(finder, true);
  }
  chooser.BeginKind();
  for (const auto& [id, job] : jobs.all()) {
    if (!job.Ended()) AddCounterparts(job, name, chooser);
  }
  chooser.BeginKind();
  for (const std::string& missed : worker.unreached) chooser.Add(missed);
  chooser.BeginKind();
  AddNeighbours(workers, worker, chooser);
  return chooser.Take();
}

}  // namespace skerry::coordinator
