#include "cli/commands/plan.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/job_file.h"
#include "cli/json.h"
#include "cli/plan_view.h"
#include "model/exec/model_summary.h"
#include "model/spec/model_config.h"

namespace skerry::cli {
namespace {

absl::StatusOr<uint64_t> CountParameters(const v1::JobSpec& spec) {
  const absl::StatusOr<model::ModelConfig> config =
      model::ParseModelConfig(spec.model().config_json());
  if (!config.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("model.config_json: ", config.status().message()));
  }
  return static_cast<uint64_t>(
      model::SummarizeModel(*config, 1, 1, 1).parameters);
}

}  // namespace

absl::Status PlanJob(Client& client, const std::string& file,
                     const Output& output) {
  v1::PlanJobRequest request;
  SKERRY_ASSIGN_OR_RETURN(*request.mutable_spec(), ReadJobFile(file));
  SKERRY_ASSIGN_OR_RETURN(const uint64_t parameters,
                          CountParameters(request.spec()));
  request.set_parameters(parameters);
  SKERRY_ASSIGN_OR_RETURN(const v1::PlanJobReply plan, client.Plan(request));
  for (const std::string& warning : plan.warnings()) {
    output.err << "warning: " << warning << "\n";
  }
  output.out << (output.form == OutputForm::kJson
                     ? JsonText(plan)
                     : PlanDescription(plan, parameters));
  return absl::OkStatus();
}

}  // namespace skerry::cli
