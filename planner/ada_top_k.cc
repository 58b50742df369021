#include "planner/ada_top_k.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/status.h"

namespace skerry::planner {
namespace {

// The allowed option of least error that is not sparse.
std::optional<uint32_t> FindDense(const CodecProblem& problem) {
  std::optional<uint32_t> dense;
  for (uint32_t c = 0; c < problem.options.size(); ++c) {
    const CodecOption& option = problem.options[c];
    if (option.loss == CodecLoss::kSparse ||
        !WhyRefused(option, problem.handling).empty()) {
      continue;
    }
    if (!dense || option.relative_rms < problem.options[*dense].relative_rms) {
      dense = c;
    }
  }
  return dense;
}

// Allowed sparse options, the largest first.
std::vector<uint32_t> FindSparse(const CodecProblem& problem) {
  std::vector<uint32_t> sparse;
  for (uint32_t c = 0; c < problem.options.size(); ++c) {
    const CodecOption& option = problem.options[c];
    if (option.loss == CodecLoss::kSparse &&
        WhyRefused(option, problem.handling).empty()) {
      sparse.push_back(c);
    }
  }
  std::stable_sort(sparse.begin(), sparse.end(), [&](uint32_t a, uint32_t b) {
    return problem.options[a].cost.bytes_per_element >
           problem.options[b].cost.bytes_per_element;
  });
  return sparse;
}

}  // namespace

absl::StatusOr<CodecChoice> ChooseAdaTopK(const CodecProblem& problem,
                                          double ratio) {
  SKERRY_RETURN_IF_ERROR(ValidateProblem(problem));
  if (!(ratio >= 1.0)) {
    return absl::InvalidArgumentError("the ratio has to be at least 1");
  }
  const std::optional<uint32_t> dense = FindDense(problem);
  const std::vector<uint32_t> sparse = FindSparse(problem);
  if (!dense || sparse.empty()) {
    return absl::InvalidArgumentError(
        "AdaTopK needs a dense and a sparse codec that the job may use");
  }
  const CodecOption& dense_option = problem.options[*dense];
  const double dense_bytes = dense_option.cost.bytes_per_element;
  std::vector<double> seconds;
  for (size_t m = 0; m < problem.shape.members.size(); ++m) {
    const HopSeconds times =
        TimesOf(problem.shape, m, *dense, dense_option.cost);
    seconds.push_back(times.first + times.second);
  }
  const double slowest = *std::max_element(seconds.begin(), seconds.end());
  std::vector<uint32_t> codec;
  for (const double own : seconds) {
    const double shrink = slowest > 0.0 ? ratio * own / slowest : 1.0;
    uint32_t chosen = *dense;
    if (shrink > 1.0) {
      const auto fits = [&](uint32_t c) {
        return problem.options[c].cost.bytes_per_element * shrink <=
               dense_bytes;
      };
      const auto it = std::find_if(sparse.begin(), sparse.end(), fits);
      const uint32_t mildest = it == sparse.end() ? sparse.back() : *it;
      if (problem.options[mildest].cost.bytes_per_element < dense_bytes) {
        chosen = mildest;
      }
    }
    codec.push_back(chosen);
  }
  return AppraiseAdaTopK(problem, ratio, std::move(codec));
}

CodecChoice AppraiseAdaTopK(const CodecProblem& problem, double ratio,
                            std::vector<uint32_t> codec) {
  CodecChoice choice = Appraise(problem, std::move(codec));
  choice.reason =
      absl::StrFormat("the slowest link sends 1/%.3g of its dense bytes; %s",
                      ratio, choice.reason);
  return choice;
}

}  // namespace skerry::planner
