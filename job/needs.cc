#include "job/needs.h"

#include "model/spec/model_config.h"
#include "model/spec/model_graph.h"

namespace skerry::job {
namespace {

// Copies of the model in fp32: parameters, gradients, shared memory.
constexpr uint64_t kCopies = 3;

uint64_t MomentsOf(InnerOptimizer optimizer) {
  switch (optimizer) {
    case InnerOptimizer::kAdamW:
    case InnerOptimizer::kLamb:
      return 2;
    // Muon has a second moment for some tensors only, SGD one with momentum.
    case InnerOptimizer::kMuon:
      return 1;
    case InnerOptimizer::kSgd:
      return 0;
  }
  return 0;
}

}  // namespace

Needs NeedsOf(const JobSpec& spec) {
  const auto config = model::ParseModelConfig(spec.model.config_json);
  if (!config.ok()) return {};
  Needs needs;
  needs.parameters =
      static_cast<uint64_t>(model::BuildGraph(*config).layout.element_count());
  needs.worker_bytes = needs.parameters * sizeof(float) *
                       (kCopies + MomentsOf(*spec.training.optimizer));
  return needs;
}

}  // namespace skerry::job
