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

JobSpec ProgramJob(const std::string& name, uint64_t samples) {
  JobSpec spec = SmallJob(name, samples);
  spec.model.config_json.clear();
  spec.model.program = JobSpec::Program{"resnet", R"({"width": 64})"};
  spec.data = JobSpec::Data();
  spec.data.id = "imagenet";
  spec.data.samples = 1'281'167;
  LeaveToProgram(spec.training);
  return spec;
}

}  // namespace skerry::job
