#include "tests/sim/job_specs.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "job/testing/specs.h"

namespace skerry::sim {
namespace {

using job::OuterMethod;

job::OuterMethod MethodOf(const std::string& name) {
  if (name == "diloco") return job::OuterMethod::kDiloco;
  if (name == "co2") return job::OuterMethod::kCo2;
  if (name == "late") return job::OuterMethod::kLate;
  if (name == "dasgd") return job::OuterMethod::kDaSgd;
  if (name == "average_plus_local_delta") {
    return job::OuterMethod::kAveragePlusLocalDelta;
  }
  return job::OuterMethod::kLocalSgd;
}

}  // namespace

job::JobSpec SpecOf(const JobShape& shape, uint32_t index) {
  job::JobSpec spec;
  spec.name = absl::StrCat("job-", index);
  if (shape.program) {
    job::LeaveToProgram(spec.training);
    spec.model.program = {kProgram, "{}"};
    spec.data.id = "images";
  } else {
    spec.model.config_json = job::kTinyConfig;
    spec.data.path = "/data/text";
    spec.data.manifest_sha256 = std::string(64, 'a');
  }
  spec.training.samples = shape.samples;
  spec.training.batch_samples = shape.batch_samples;
  spec.training.tau = shape.tau;
  spec.training.evaluate_every = shape.evaluate_every;
  spec.outer.method = MethodOf(shape.method);
  spec.outer.accept_weak_damping = true;
  if (shape.apply_points > 0) spec.outer.apply_points = shape.apply_points;
  if (shape.mix > 0) spec.outer.mix = shape.mix;
  spec.exchange.codec = shape.codec;
  spec.exchange.spans = shape.spans;
  if (shape.fragments > 1) spec.exchange.fragments = shape.fragments;
  spec.exchange.quorum = shape.quorum;
  spec.exchange.carry = shape.carry;
  spec.queue.priority = shape.priority;
  if (shape.checkpoint_every > 0) {
    spec.checkpoint = {absl::StrCat("/saved/", spec.name),
                       shape.checkpoint_every, shape.keep};
  }
  return spec;
}

}  // namespace skerry::sim
