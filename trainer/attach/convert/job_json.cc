#include "trainer/attach/convert/job_json.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "job/convert/job_spec.h"
#include "job/job_spec.h"
#include "job/limits.h"
#include "model/safetensors/strict_json.h"
#include "nlohmann/json.hpp"

namespace skerry::trainer::attach {
namespace {

using Json = nlohmann::json;

absl::StatusOr<Json> ParametersOf(const job::JobSpec::Program& program) {
  if (program.parameters_json.empty()) return Json::object();
  auto parameters =
      model::ParseStrictJson(program.parameters_json, job::kParametersDepthMax);
  if (!parameters.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "model.program.parameters ", parameters.status().message()));
  }
  return parameters;
}

}  // namespace

absl::StatusOr<std::string> JobJson(const v1::JobSpec& job) {
  SKERRY_ASSIGN_OR_RETURN(const job::JobSpec spec, job::JobSpecFromProto(job));
  if (!spec.model.program.has_value()) {
    return absl::InvalidArgumentError(
        "the job has no model.program; skerry-trainer trains what "
        "model.config describes");
  }
  SKERRY_ASSIGN_OR_RETURN(Json parameters, ParametersOf(*spec.model.program));
  const Json json = {{"name", spec.name},
                     {"parameters", std::move(parameters)},
                     {"seed", spec.model.seed},
                     {"data_seed", spec.data.seed},
                     {"data_id", spec.data.id},
                     {"data_samples", spec.data.samples.value_or(0)},
                     {"samples", spec.training.samples},
                     {"batch_samples", spec.training.batch_samples},
                     {"tau", spec.training.tau}};
  SKERRY_ASSIGN_OR_RETURN(std::string text, model::DumpJson(json));
  if (text.size() > kJobJsonBytesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("what the program learns of the job has ", text.size(),
                     " bytes, at most ", kJobJsonBytesMax,
                     "; make model.program.parameters smaller"));
  }
  return text;
}

}  // namespace skerry::trainer::attach
