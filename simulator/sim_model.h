// simulator/sim_model.h
//
// What a simulated trainer trains. Equal calls give equal values, so that the
// workers of one replica, of which each has a model, compute the same.
#ifndef SKERRY_SIMULATOR_SIM_MODEL_H_
#define SKERRY_SIMULATOR_SIM_MODEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/ids.h"
#include "data/sample_ranges.h"

namespace skerry::sim {

class SimModel {
 public:
  virtual ~SimModel() = default;
  virtual uint64_t elements() const = 0;
  // The same for all trainers of a job. `live` has elements() values, also
  // below.
  virtual void Initialize(std::span<float> live) = 0;
  // Returns the mean loss over the samples.
  virtual double Train(const data::RangeSet& ranges, uint64_t batch,
                       std::span<float> live) = 0;
  virtual double Evaluate(uint64_t samples_max,
                          std::span<const float> live) = 0;
};

struct SimModelRequest {
  JobId job;
  std::string job_name;
  std::string island;
};
using MakeSimModel =
    std::function<std::unique_ptr<SimModel>(const SimModelRequest& request)>;

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_SIM_MODEL_H_
