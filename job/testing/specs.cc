#include "job/testing/specs.h"

namespace skerry::job {

JobSpec SmallJob(const std::string& name, uint64_t samples) {
  JobSpec spec;
  spec.name = name;
  spec.model.config_json = kTinyConfig;
  spec.data.path = "/data/text";
  spec.data.manifest_sha256 = std::string(64, 'a');
  spec.training.samples = samples;
  spec.training.batch_samples = 4;
  spec.training.tau = 2;
  spec.training.evaluate_every = 5;
  spec.outer.method = OuterMethod::kLocalSgd;
  spec.exchange.spans = 8;
  return spec;
}

}  // namespace skerry::job
