// worker/core/apply_points.h
//
// Decides where the apply points of a round lie (PROTOCOL 4.6), and how many of
// them cost little of its time. A round with K apply points, of which the
// boundary is the first, is made in K runs of the trainer.
#ifndef SKERRY_WORKER_CORE_APPLY_POINTS_H_
#define SKERRY_WORKER_CORE_APPLY_POINTS_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/time/time.h"
#include "base/instant.h"
#include "data/sample_ranges.h"
#include "worker/core/effects.h"

namespace skerry::worker {

// The samples of a round that no run was started with, and in how many runs of
// about as many steps each they are made.
class RoundRuns {
 public:
  // A round begins. 0 runs are one.
  void Begin(data::RangeSet samples, uint32_t runs);
  // At an apply point the rest is cut anew.
  void Recut(uint32_t runs) { left_ = runs > 0 ? runs : 1; }
  // The samples of the next run: whole steps of `batch`, and the last run has
  // what is left. Requires: rest() has samples, and `batch` is at least 1.
  data::RangeSet Take(uint64_t batch);

  const data::RangeSet& rest() const { return rest_; }
  // How many runs rest() is made in.
  uint32_t left() const { return left_; }

 private:
  data::RangeSet rest_;
  uint32_t left_ = 1;
};

// Learns what stopping costs. Each number is a mean in which the newest weighs
// a quarter.
class StopTimes {
 public:
  void OnRunBegins(Instant now);
  void OnRunEnds(Instant now, const RunReport& report);
  // The trainer stands still at an apply point. Where OnApply() follows, the
  // stop is not counted.
  void OnStop(Instant now) { stopped_ = now; }
  void OnApply() { stopped_.reset(); }
  // The live values were copied.
  void OnSnapshot(absl::Duration took) { snapshot_s_.Add(took); }
  // Live values are computed, and then loaded.
  void OnMergeBegins(Instant now) { merging_ = now; }
  void OnMergeEnds(Instant now) { merge_s_.Add(now - merging_); }

  // Returns how many points of a round of `steps` steps cost under 1 % of its
  // time: each but the first stops the trainer, and at one of them a result is
  // applied. At least 1. While no stop was measured it is 2 at most.
  uint64_t AffordablePoints(uint64_t steps) const;

 private:
  struct Mean {
    std::optional<double> value;  // s
    void Add(absl::Duration one);
  };
  Instant run_;
  Instant merging_;
  std::optional<Instant> stopped_;
  Mean step_s_;
  Mean run_s_;  // what a run takes beside its steps
  Mean stop_s_;
  Mean snapshot_s_;
  Mean merge_s_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_APPLY_POINTS_H_
