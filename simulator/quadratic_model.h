// simulator/quadratic_model.h
//
// A model that moves a point towards noisy targets. So rounds have real
// arithmetic at the cost of a few additions.
#ifndef SKERRY_SIMULATOR_QUADRATIC_MODEL_H_
#define SKERRY_SIMULATOR_QUADRATIC_MODEL_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "simulator/sim_model.h"

namespace skerry::sim {

class QuadraticModel final : public SimModel {
 public:
  // Each island has targets of its own. `every_step`: the arithmetic of every
  // step is done, not of one a round.
  QuadraticModel(uint64_t elements, JobId job, const std::string& island,
                 bool every_step);

  uint64_t elements() const override { return targets_.size(); }
  void Initialize(std::span<float> live) override;
  double Train(const data::RangeSet& ranges, uint64_t batch,
               std::span<float> live) override;
  double Evaluate(uint64_t samples_max, std::span<const float> live) override;

 private:
  const JobId job_;
  const bool every_step_;
  std::vector<float> targets_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_QUADRATIC_MODEL_H_
