#include "cli/commands/plan.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/job_file.h"
#include "cli/json.h"
#include "cli/plan_view.h"
#include "cli/poll.h"
#include "cli/program_description.h"
#include "cli/shared_options.h"
#include "model/exec/model_summary.h"
#include "model/spec/model_config.h"

namespace skerry::cli {
namespace {

// How long workers have for looking at a data set.
constexpr absl::Duration kLookInterval = absl::Milliseconds(50);
constexpr absl::Duration kLookMax = absl::Seconds(3);

absl::StatusOr<uint64_t> CountParameters(
    const v1::JobSpec& spec,
    const std::optional<ProgramDescription>& description) {
  if (spec.model().has_program()) {
    return description.has_value() ? description->elements : 0;
  }
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
  // A measured program (cli/program_description.h); empty: none.
  std::string description;
};

absl::Status PlanJob(const PlanArguments& arguments, Client& client,
                     const Output& output) {
  v1::PlanJobRequest request;
  SKERRY_ASSIGN_OR_RETURN(const JobFile job, ReadJobFile(arguments.file));
  *request.mutable_spec() = job.spec;
  std::optional<ProgramDescription> description;
  if (!arguments.description.empty()) {
    if (!job.spec.model().has_program()) {
      return absl::InvalidArgumentError(
          "--description: is for jobs with model.program; the config says "
          "what others train");
    }
    SKERRY_ASSIGN_OR_RETURN(description,
                            ReadProgramDescription(arguments.description));
  }
  SKERRY_ASSIGN_OR_RETURN(const uint64_t parameters,
                          CountParameters(request.spec(), description));
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
                     : PlanDescription(plan, parameters, description));
  return absl::OkStatus();
}

void AddOptions(CLI::App& app, PlanArguments& wanted) {
  AddJobFile(app, wanted.file);
  AddDescription(app, wanted.description);
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
