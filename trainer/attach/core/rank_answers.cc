#include "trainer/attach/core/rank_answers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "trainer/core/step_plan.h"

namespace skerry::trainer::attach {
namespace {

constexpr size_t kMetricsMax = 16;
constexpr size_t kMetricNameBytesMax = 32;

absl::Status Wrong(size_t rank, const absl::AlphaNum& what) {
  return absl::InternalError(absl::StrCat("rank ", rank, " ", what));
}

// Sums of values times samples, and the samples.
struct Mean {
  double sum = 0;
  double samples = 0;
  void Add(double value, uint64_t count) {
    sum += value * static_cast<double>(count);
    samples += static_cast<double>(count);
  }
};

bool IsMetricName(const std::string& name) {
  return !name.empty() && name.size() <= kMetricNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '_' || c == '.' || c == '/' || c == '-';
         });
}

absl::Status CheckMetrics(size_t rank, const RunResult& run) {
  if (run.metrics.size() > kMetricsMax) {
    return Wrong(rank, absl::StrCat("reports ", run.metrics.size(),
                                    " metrics, at most ", kMetricsMax));
  }
  for (const auto& [name, value] : run.metrics) {
    if (IsMetricName(name)) continue;
    return Wrong(rank,
                 absl::StrCat("reports a metric whose name of ", name.size(),
                              " bytes is not 1 to ", kMetricNameBytesMax,
                              " letters, digits, '_', '.', '/' and '-'"));
  }
  return absl::OkStatus();
}

struct Counts {
  uint64_t samples = 0;
  uint64_t steps = 0;
};

Counts CountsOf(const RunRequest& request) {
  Counts counts;
  for (const data::SampleRange& range : request.ranges) {
    counts.samples += range.size();
  }
  counts.steps = StepCount(request);
  return counts;
}

absl::Status CheckRun(size_t rank, const RunResult& run, const Counts& wanted) {
  if (run.inner_steps != wanted.steps) {
    return Wrong(rank, absl::StrCat("took ", run.inner_steps, " steps of ",
                                    wanted.steps));
  }
  if (run.samples > wanted.samples) {
    return Wrong(rank, absl::StrCat("trained on ", run.samples, " samples of ",
                                    wanted.samples));
  }
  if (run.skipped_steps > run.inner_steps) {
    return Wrong(rank, absl::StrCat("skipped ", run.skipped_steps, " steps of ",
                                    run.inner_steps));
  }
  if (run.has_loss && !std::isfinite(run.loss)) {
    return Wrong(rank, "has a loss that is not finite");
  }
  if (!std::isfinite(run.gradient_norm) || !std::isfinite(run.learning_rate)) {
    return Wrong(rank,
                 "has a gradient norm or a learning rate that is not finite");
  }
  return CheckMetrics(rank, run);
}

}  // namespace

absl::StatusOr<RunResult> MergeRuns(const RunRequest& request,
                                    std::span<const RunResult> ranks) {
  const Counts wanted = CountsOf(request);
  RunResult merged = {.inner_steps = wanted.steps,
                      .has_loss = false,
                      .gradient_norm = ranks[0].gradient_norm,
                      .learning_rate = ranks[0].learning_rate,
                      .metrics = {},
                      .skipped_steps = ranks[0].skipped_steps};
  Mean loss;
  std::map<std::string, Mean> metrics;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const RunResult& run = ranks[rank];
    SKERRY_RETURN_IF_ERROR(CheckRun(rank, run, wanted));
    merged.samples += run.samples;
    if (run.has_loss) loss.Add(run.loss, run.samples);
    for (const auto& [name, value] : run.metrics) {
      if (std::isfinite(value)) metrics[name].Add(value, run.samples);
    }
  }
  if (merged.samples != wanted.samples) {
    return absl::InternalError(absl::StrCat("the ranks trained on ",
                                            merged.samples, " samples of ",
                                            wanted.samples));
  }
  if (metrics.size() > kMetricsMax) {
    return absl::InternalError(absl::StrCat("the ranks report ", metrics.size(),
                                            " metrics together, at most ",
                                            kMetricsMax));
  }
  if (loss.samples > 0) {
    merged.has_loss = true;
    merged.loss = loss.sum / loss.samples;
  }
  for (const auto& [name, mean] : metrics) {
    if (mean.samples > 0) merged.metrics[name] = mean.sum / mean.samples;
  }
  return merged;
}

absl::StatusOr<EvaluateResult> MergeEvaluations(
    std::span<const EvaluateResult> ranks) {
  Mean loss;
  EvaluateResult merged;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].samples == 0) continue;
    if (!std::isfinite(ranks[rank].loss)) {
      return Wrong(rank, "has a validation loss that is not finite");
    }
    loss.Add(ranks[rank].loss, ranks[rank].samples);
    merged.samples += ranks[rank].samples;
  }
  if (merged.samples == 0) {
    return absl::InternalError("no rank has evaluated a sample");
  }
  merged.loss = loss.sum / loss.samples;
  return merged;
}

}  // namespace skerry::trainer::attach
