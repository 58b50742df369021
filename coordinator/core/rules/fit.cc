#include "coordinator/core/rules/fit.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/s3_location.h"
#include "coordinator/core/rules/programs.h"
#include "job/checkpoint_owner.h"
#include "job/data_review.h"
#include "job/needs.h"

namespace skerry::coordinator {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

std::string GiB(uint64_t bytes) {
  return absl::StrFormat("%.1f GiB", static_cast<double>(bytes) / kGiB);
}

// Workers that are there and in the job's islands, whatever they do now.
std::vector<const Worker*> WorkersFor(const job::JobSpec& spec,
                                      const WorkerTable& workers) {
  std::vector<const Worker*> found;
  const auto& islands = spec.placement.islands;
  for (const auto& [name, worker] : workers.all()) {
    const bool named =
        islands.empty() || std::find(islands.begin(), islands.end(),
                                     worker.island) != islands.end();
    if (!worker.left && named) found.push_back(&worker);
  }
  return found;
}

void ReviewMemory(const job::JobSpec& spec,
                  const std::vector<const Worker*>& workers,
                  job::SpecProblems& problems) {
  if (workers.empty()) return;
  const job::Needs needs = job::NeedsOf(spec);
  const Worker* largest = workers.front();
  for (const Worker* worker : workers) {
    if (WhyTooSmall(needs.worker_bytes, *worker).empty()) return;
    if (worker->machine.memory_bytes > largest->machine.memory_bytes) {
      largest = worker;
    }
  }
  problems.Add(
      "model.config_json",
      absl::StrCat("describes ", needs.parameters,
                   " parameters, which take at least ", GiB(needs.worker_bytes),
                   " of memory on each worker, and the largest, ",
                   largest->self.worker, ", has ",
                   GiB(largest->machine.memory_bytes),
                   "; use a smaller model or larger machines"));
}

// What the worker has found at `path`; null when it has not looked yet.
const job::DataFacts* FactsAt(const std::string& path, const Worker& worker) {
  for (const job::DataFacts& facts : worker.data) {
    if (facts.path == path) return &facts;
  }
  return nullptr;
}

const job::DataFacts* DataOf(const job::JobSpec& spec, const Worker& worker) {
  return FactsAt(spec.data.path, worker);
}

// Says in one line which workers take the data set from which. `found` has
// those that lack it.
using Lacking = std::vector<std::pair<const Worker*, job::SpecProblems>>;
std::string FetchText(const job::JobSpec& spec, const Lacking& lacking,
                      const std::vector<const Worker*>& holders) {
  const size_t kNamedMax = 4;
  const auto names = [kNamedMax](size_t count, auto name) {
    std::string text;
    for (size_t i = 0; i < std::min(count, kNamedMax); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ", ", name(i));
    }
    if (count > kNamedMax) {
      absl::StrAppend(&text, " and ", count - kNamedMax, " more");
    }
    return text;
  };
  return absl::StrCat(
      "data.path: ", lacking.size(), " worker(s) have no such data set in ",
      spec.data.path, " and will fetch it: ",
      names(lacking.size(),
            [&](size_t i) { return lacking[i].first->self.worker; }),
      "; it is on ",
      names(holders.size(), [&](size_t i) { return holders[i]->self.worker; }));
}

// Takes those out of `found` that will fetch the set from a worker that has it
// and gives it. Adds a line that says so.
void SetFetchersApart(const job::JobSpec& spec,
                      const std::vector<const Worker*>& holders, Lacking& found,
                      std::vector<std::string>& warnings) {
  if (holders.empty()) return;
  Lacking others;
  Lacking fetchers;
  for (auto& one : found) {
    (one.first->fetches_data ? fetchers : others).push_back(std::move(one));
  }
  found = std::move(others);
  if (fetchers.empty()) return;
  warnings.push_back(FetchText(spec, fetchers, holders));
}

// One worker that has not looked yet may have what others lack. Nobody looks
// into an object store for a job that may not come; workers say what they find
// there when they fetch it.
void ReviewDataSets(const job::JobSpec& spec,
                    const std::vector<const Worker*>& workers,
                    std::vector<std::string>& warnings,
                    job::SpecProblems& problems) {
  if (IsS3Place(spec.data.path)) return;
  Lacking found;
  std::vector<const Worker*> holders;
  std::vector<std::string> advice;
  for (const Worker* worker : workers) {
    const job::DataFacts* facts = DataOf(spec, *worker);
    if (facts == nullptr) continue;
    job::SpecProblems theirs;
    advice.clear();
    job::ReviewData(spec, *facts, advice, theirs);
    if (!theirs.empty()) {
      found.emplace_back(worker, std::move(theirs));
    } else if (worker->fetches_data) {
      holders.push_back(worker);
    }
  }
  SetFetchersApart(spec, holders, found, warnings);
  warnings.insert(warnings.end(), advice.begin(), advice.end());
  if (found.empty()) return;
  if (found.size() < workers.size()) {
    for (const auto& [worker, theirs] : found) {
      for (const std::string& line : theirs.lines()) {
        warnings.push_back(
            absl::StrCat(line, " (so on worker ", worker->self.worker, ")"));
      }
    }
    return;
  }
  const auto& [worker, theirs] = found.front();
  for (const std::string& line : theirs.lines()) {
    problems.AddLine(
        absl::StrCat(line, " (so on worker ", worker->self.worker,
                     found.size() > 1 ? " and on every other)" : ")"));
  }
}

// One worker that can save is enough, and one that has not looked yet may be
// it. Workers also report a folder that has checkpoints of the job itself. It
// has some if a coordinator that lost its journal gives the same number again.
void ReviewCheckpointFolder(const job::JobSpec& spec, JobId number,
                            const std::vector<const Worker*>& workers,
                            std::vector<std::string>& warnings,
                            job::SpecProblems& problems) {
  if (!spec.checkpoint.has_value()) return;
  const std::string own =
      job::CheckpointOwnerText(spec.checkpoint->directory, spec.name, number);
  std::vector<std::string> found;
  for (const Worker* worker : workers) {
    const job::DataFacts* facts = FactsAt(spec.checkpoint->directory, *worker);
    if (facts == nullptr || facts->save_error.empty() ||
        facts->save_error == own) {
      continue;
    }
    found.push_back(absl::StrCat("worker ", worker->self.worker,
                                 " cannot save there: ", facts->save_error));
  }
  if (found.empty()) return;
  if (found.size() == workers.size()) {
    return problems.Add(
        "checkpoint.directory",
        absl::StrCat("no worker can save there; ", found.front()));
  }
  for (const std::string& line : found) {
    warnings.push_back(absl::StrCat("checkpoint.directory: ", line));
  }
}

}  // namespace

std::string WhyTooSmall(uint64_t needed, const Worker& worker) {
  const uint64_t has = worker.machine.memory_bytes;
  if (has == 0 || needed <= has) return "";
  return absl::StrCat("the model takes at least ", GiB(needed),
                      " of memory, and it has ", GiB(has));
}

std::string WhyTooFewIslands(const job::JobSpec& spec, size_t islands) {
  if (islands >= spec.exchange.min_replicas) return "";
  return absl::StrCat("exchange.min_replicas is ", spec.exchange.min_replicas,
                      ", and workers of ", islands,
                      " island(s) may work on it: no exchange opens before "
                      "there are more islands; add workers of another island, "
                      "or submit it with a smaller min_replicas");
}

absl::Status ReviewFit(const WorkerTable& workers, JobId number,
                       job::ReviewedSpec& reviewed) {
  const job::JobSpec& spec = reviewed.spec;
  const std::vector<const Worker*> there = WorkersFor(spec, workers);
  job::SpecProblems problems;
  ReviewMemory(spec, there, problems);
  ReviewPrograms(spec, there, reviewed.warnings, problems);
  // A program opens its data by itself.
  if (!spec.model.program.has_value()) {
    ReviewDataSets(spec, there, reviewed.warnings, problems);
  }
  ReviewCheckpointFolder(spec, number, there, reviewed.warnings, problems);
  absl::btree_set<std::string> islands;
  for (const Worker* worker : there) islands.insert(worker->island);
  const std::string few = WhyTooFewIslands(spec, islands.size());
  if (!there.empty() && !few.empty()) reviewed.warnings.push_back(few);
  return problems.ToStatus();
}

uint32_t DataPending(const job::JobSpec& spec, const WorkerTable& workers) {
  uint32_t pending = 0;
  for (const Worker* worker : WorkersFor(spec, workers)) {
    const bool looked =
        (spec.model.program.has_value() || DataOf(spec, *worker) != nullptr) &&
        (!spec.checkpoint.has_value() ||
         FactsAt(spec.checkpoint->directory, *worker) != nullptr);
    if (worker->looks_at_data && !looked) ++pending;
  }
  return pending;
}

}  // namespace skerry::coordinator
