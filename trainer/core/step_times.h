// trainer/core/step_times.h
//
// How long the last hundred inner steps took. The worker learns from the
// longest of them when a step takes too long (worker/core/trainer_watch.h).
#ifndef SKERRY_TRAINER_CORE_STEP_TIMES_H_
#define SKERRY_TRAINER_CORE_STEP_TIMES_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace skerry::trainer {

class StepTimes {
 public:
  void Add(double seconds) {
    times_[static_cast<size_t>(count_ % times_.size())] = seconds;
    ++count_;
  }
  // The number of steps since the trainer started.
  uint64_t count() const { return count_; }
  // The longest of the last hundred steps in seconds; 0 before the first.
  double Longest() const;

 private:
  std::array<double, 100> times_ = {};
  uint64_t count_ = 0;
};

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_CORE_STEP_TIMES_H_
