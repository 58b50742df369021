#include "planner/deadline.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"

namespace skerry::planner {
namespace {

// 2^20 doublings exceed any lease.
constexpr int kRetryMax = 20;

}  // namespace

absl::Duration PredictExchange(double bytes, double bytes_per_s,
                               absl::Duration one_way_delay) {
  SKERRY_CHECK(bytes_per_s > 0.0);
  return absl::Seconds(bytes / bytes_per_s) + 2 * one_way_delay;
}

absl::Status ValidateDeadlineOptions(const DeadlineOptions& options) {
  const char* wrong = nullptr;
  if (!(options.quantile > 0.0 && options.quantile <= 1.0)) {
    wrong = "quantile has to be in (0, 1]";
  } else if (!(options.margin >= 1.0)) {
    wrong = "margin has to be at least 1";
  } else if (options.floor < absl::ZeroDuration()) {
    wrong = "floor must not be negative";
  } else if (!(options.slowdown_before_learning >= 1.0)) {
    wrong = "slowdown_before_learning has to be at least 1";
  } else if (options.observations_min < 1 ||
             options.window < options.observations_min) {
    wrong = "window has to hold observations_min >= 1 observations";
  } else if (options.lease <= absl::ZeroDuration()) {
    wrong = "lease has to be positive";
  }
  if (wrong == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("attempt deadline: ", wrong));
}

DeadlineEstimator::DeadlineEstimator(const DeadlineOptions& options)
    : options_(options) {
  SKERRY_CHECK(ValidateDeadlineOptions(options).ok());
}

void DeadlineEstimator::Observe(absl::Duration predicted,
                                absl::Duration actual) {
  if (predicted <= absl::ZeroDuration() || actual < absl::ZeroDuration()) {
    return;
  }
  const double slowdown = absl::FDivDuration(actual, predicted);
  if (slowdowns_.size() < options_.window) {
    slowdowns_.push_back(slowdown);
  } else {
    slowdowns_[next_] = slowdown;
  }
  next_ = (next_ + 1) % options_.window;
}

Deadline DeadlineEstimator::Estimate(absl::Duration predicted,
                                     int retry) const {
  SKERRY_CHECK(retry >= 0);
  const bool learned = slowdowns_.size() >= options_.observations_min;
  // A group that beat its links may still be as slow as they are.
  const double slowdown =
      std::max(1.0, learned ? Slowdown() : options_.slowdown_before_learning);
  const absl::Duration first =
      options_.floor + predicted * (options_.margin * slowdown);
  const absl::Duration wanted =
      first * std::ldexp(1.0, std::min(retry, kRetryMax));
  Deadline deadline;
  deadline.duration = std::min(wanted, options_.lease);
  deadline.reason = absl::StrFormat(
      "%s + %.3g x %s predicted x slowdown %.3g (%s)%s%s",
      absl::FormatDuration(options_.floor), options_.margin,
      absl::FormatDuration(predicted), slowdown,
      learned ? absl::StrCat("quantile ", options_.quantile, " of ",
                             slowdowns_.size(), " exchanges")
              : std::string("nothing learned yet"),
      retry > 0 ? absl::StrCat(", doubled ", retry, " times") : std::string(),
      wanted > options_.lease ? ", capped by the lease" : "");
  return deadline;
}

double DeadlineEstimator::Slowdown() const {
  std::vector<double> sorted = slowdowns_;
  // The smallest value that at least `quantile` of all do not exceed.
  const auto rank = static_cast<size_t>(
      std::ceil(options_.quantile * static_cast<double>(sorted.size())));
  const auto at = sorted.begin() + static_cast<ptrdiff_t>(rank - 1);
  std::nth_element(sorted.begin(), at, sorted.end());
  return *at;
}

}  // namespace skerry::planner
