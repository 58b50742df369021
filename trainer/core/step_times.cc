#include "trainer/core/step_times.h"

#include <algorithm>

namespace skerry::trainer {

double StepTimes::Longest() const {
  return *std::max_element(times_.begin(), times_.end());
}

}  // namespace skerry::trainer
