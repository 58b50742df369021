#include "cli/commands/plan.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/job_file.h"
#include "cli/json.h"
#include "cli/plan_view.h"
#include "cli/poll.h"
#include "cli/shared_options.h"
#include "model/exec/model_summary.h"
#include "model/spec/model_config.h"

namespace skerry::cli {
namespace {

// How long workers have for looking at a data set.
constexpr absl::Duration kLookInterval = absl::Milliseconds(50);
constexpr absl::Duration kLookMax = absl::Seconds(3);

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

absl::StatusOr<v1::PlanJobReply> PlanWithData(
    Client& client, const v1::PlanJobRequest& request) {
  v1::PlanJobReply plan;
  const absl::Status polled =
      PollUntil(kLookInterval, kLookMax, [&]() -> absl::StatusOr<bool> {
        SKERRY_ASSIGN_OR_RETURN(plan, client.Plan(request));
        return plan.data_pending() == 0;
      });
  // Without the word of those that are slow.
  if (polled.ok() || absl::IsDeadlineExceeded(polled)) return plan;
  return polled;
}

namespace {

struct PlanArguments {
  std::string file;
};

absl::Status PlanJob(const PlanArguments& arguments, Client& client,
                     const Output& output) {
  v1::PlanJobRequest request;
  SKERRY_ASSIGN_OR_RETURN(const JobFile job, ReadJobFile(arguments.file));
  *request.mutable_spec() = job.spec;
  SKERRY_ASSIGN_OR_RETURN(const uint64_t parameters,
                          CountParameters(request.spec()));
  request.set_parameters(parameters);
  const absl::StatusOr<v1::PlanJobReply> planned =
      PlanWithData(client, request);
  if (!planned.ok()) return job.places.Locate(planned.status());
  const v1::PlanJobReply& plan = *planned;
  for (const std::string& warning : plan.warnings()) {
    output.err << "warning: " << warning << "\n";
  }
  output.out << (output.form == OutputForm::kJson
                     ? JsonText(plan)
                     : PlanDescription(plan, parameters));
  return absl::OkStatus();
}

void AddOptions(CLI::App& app, PlanArguments& wanted) {
  AddJobFile(app, wanted.file);
}

}  // namespace

Command PlanCommand() {
  return MakeCommand<PlanArguments>(
      {.words = "plan",
       .about = "what submit would lead to, and why",
       .add_options = AddOptions,
       .run = PlanJob});
}

}  // namespace skerry::cli
