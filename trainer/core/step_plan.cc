#include "trainer/core/step_plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace skerry::trainer {

absl::Status ValidateRunRequest(const RunRequest& request) {
  uint64_t total = 0;
  for (const data::SampleRange& range : request.ranges) {
    if (range.size() == 0 || range.size() > kSamplesPerRunMax - total) {
      return absl::InvalidArgumentError(
          absl::StrCat("samples [", range.begin, ", ", range.end,
                       ") are none, or more than the ", kSamplesPerRunMax,
                       " that one call may cover"));
    }
    total += range.size();
  }
  if (total == 0) {
    return absl::InvalidArgumentError("a run needs samples");
  }
  if (request.replica_batch_samples < 1 ||
      request.replica_batch_samples > kReplicaBatchMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("a batch has 1 to ", kReplicaBatchMax, " samples, not ",
                     request.replica_batch_samples));
  }
  return absl::OkStatus();
}

uint64_t StepCount(const RunRequest& request) {
  uint64_t samples = 0;
  for (const data::SampleRange& range : request.ranges) samples += range.size();
  return (samples + request.replica_batch_samples - 1) /
         request.replica_batch_samples;
}

StepPlan::StepPlan(const RunRequest& request) : request_(request) {}

std::vector<uint64_t> StepPlan::Next() {
  std::vector<uint64_t> positions;
  while (positions.size() < request_.replica_batch_samples &&
         range_ < request_.ranges.size()) {
    const data::SampleRange& range = request_.ranges[range_];
    positions.push_back(range.begin + inside_);
    if (++inside_ == range.size()) {
      ++range_;
      inside_ = 0;
    }
  }
  return positions;
}

std::span<const uint64_t> RankPart(std::span<const uint64_t> positions,
                                   int rank, int size) {
  const auto edge = [&](int r) {
    return positions.size() * static_cast<size_t>(r) /
           static_cast<size_t>(size);
  };
  return positions.subspan(edge(rank), edge(rank + 1) - edge(rank));
}

}  // namespace skerry::trainer
