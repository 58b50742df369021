#include "cli/commands/describe_model.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "cli/commands/describe_stages.h"
#include "cli/number_limits.h"
#include "cli/read_file.h"
#include "cli/table.h"
#include "model/exec/model_summary.h"
#include "model/exec/stage_summary.h"
#include "model/spec/graph.h"
#include "model/spec/model_config.h"
#include "model/spec/model_graph.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

using model::ModelSummary;

constexpr size_t kConfigBytesMax = 256 * 1024;

absl::Status CheckRange(const char* name, int value, int64_t max) {
  if (value >= 1 && value <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", must be 1 to ", max));
}

void PrintTable(const model::ModelConfig& config, int samples, int tokens,
                const ModelSummary& summary, std::ostream& out) {
  const double flops = summary.work.forward_flops +
                       summary.work.backward_flops + summary.recompute_flops;
  const auto line = [&](const char* name, const std::string& value) {
    out << absl::StreamFormat("%-20s%s\n", name, value);
  };
  const auto bytes = [](int64_t count) {
    return BytesText(static_cast<uint64_t>(count));
  };
  line("Type:", config.model_type);
  line("Parameters:",
       absl::StrCat(summary.parameters, " in ", summary.tensors, " tensors"));
  line("Micro-batch:",
       absl::StrCat(samples, " samples of ", tokens, " tokens"));
  line("Forward:", FlopsText(summary.work.forward_flops));
  line("Backward:", FlopsText(summary.work.backward_flops));
  if (summary.recompute_flops > 0) {
    line("Recomputed:", FlopsText(summary.recompute_flops));
  }
  line("A token:", FlopsText(flops / (static_cast<double>(samples) * tokens)));
  line("Memory:", bytes(summary.total_bytes()));
  line("  parameters:", bytes(summary.parameter_bytes));
  line("  gradients:", bytes(summary.gradient_bytes));
  line("  AdamW moments:", bytes(summary.optimizer_bytes));
  line("  activations:", bytes(summary.activation_bytes));
  line("  workspace:", bytes(summary.workspace_bytes));
}

// As in the API's objects, 64-bit integers are strings.
std::string Text(int64_t value) { return absl::StrCat(value); }

void AddSummary(const ModelSummary& summary, nlohmann::ordered_json& object) {
  object["parameters"] = Text(summary.parameters);
  object["tensors"] = Text(summary.tensors);
  object["forward_flops"] = summary.work.forward_flops;
  object["backward_flops"] = summary.work.backward_flops;
  object["recompute_flops"] = summary.recompute_flops;
  object["memory_bytes"] = Text(summary.total_bytes());
  object["parameter_bytes"] = Text(summary.parameter_bytes);
  object["gradient_bytes"] = Text(summary.gradient_bytes);
  object["optimizer_bytes"] = Text(summary.optimizer_bytes);
  object["activation_bytes"] = Text(summary.activation_bytes);
  object["workspace_bytes"] = Text(summary.workspace_bytes);
}

void AddStages(const model::CutSummary& cut, int samples, int tokens,
               nlohmann::ordered_json& object) {
  object["stages"] = nlohmann::ordered_json::array();
  for (const model::StageSummary& stage : cut.stages) {
    nlohmann::ordered_json one = {{"first_operator", stage.first},
                                  {"last_operator", stage.last}};
    AddSummary(stage.own, one);
    one["sends"] = nlohmann::ordered_json::array();
    for (const model::CrossingValue& value : stage.sent) {
      one["sends"].push_back({{"value", value.name},
                              {"shape", {samples, tokens, value.width}},
                              {"bytes", Text(value.bytes)}});
    }
    object["stages"].push_back(std::move(one));
  }
  object["shared_tensors"] = nlohmann::ordered_json::array();
  for (const model::SharedSummary& shared : cut.shared) {
    object["shared_tensors"].push_back(
        {{"tensor", shared.tensor},
         {"stages", shared.stages},
         {"gradient_bytes", Text(shared.gradient_bytes)}});
  }
}

}  // namespace

absl::Status DescribeModel(const DescribeModelArguments& arguments,
                           const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const std::string text,
                          ReadFile(arguments.file, kConfigBytesMax));
  absl::StatusOr<model::ModelConfig> parsed = model::ParseModelConfig(text);
  if (!parsed.ok()) return Annotate(parsed.status(), arguments.file);
  const model::ModelConfig config = *std::move(parsed);
  const int tokens =
      arguments.tokens == 0 ? config.n_positions : arguments.tokens;
  SKERRY_RETURN_IF_ERROR(
      CheckRange("--tokens", tokens, config.positions_max()));
  // As many tokens as a trainer takes at once.
  SKERRY_RETURN_IF_ERROR(
      CheckRange("--samples", arguments.samples,
                 std::numeric_limits<int>::max() / 2 / tokens));
  SKERRY_RETURN_IF_ERROR(
      CheckRange("--threads", arguments.threads, kThreadsMax));
  const model::Graph graph = model::BuildGraph(config);
  const bool is_cut = arguments.stages != 0 || !arguments.cuts.empty();
  std::vector<int> cuts;
  if (!arguments.cuts.empty()) {
    SKERRY_ASSIGN_OR_RETURN(cuts, CutsBefore(graph, arguments.cuts));
  } else if (is_cut) {
    SKERRY_ASSIGN_OR_RETURN(
        cuts, CutsInto(graph, arguments.stages, arguments.samples, tokens));
  }
  const auto recompute = arguments.recompute ? model::Recompute::kBlocks
                                             : model::Recompute::kNothing;
  const ModelSummary summary = model::SummarizeGraph(
      graph, arguments.samples, tokens, arguments.threads, recompute);
  const model::CutSummary cut = model::SummarizeCut(
      graph, cuts, arguments.samples, tokens, arguments.threads, recompute);
  if (output.form == OutputForm::kJson) {
    nlohmann::ordered_json object = {{"model_type", config.model_type},
                                     {"samples", arguments.samples},
                                     {"sequence_tokens", tokens}};
    AddSummary(summary, object);
    if (is_cut) AddStages(cut, arguments.samples, tokens, object);
    output.out << object.dump(1) << "\n";
    return absl::OkStatus();
  }
  PrintTable(config, arguments.samples, tokens, summary, output.out);
  if (is_cut) output.out << StagesText(cut, arguments.samples, tokens);
  return absl::OkStatus();
}

namespace {

void AddOptions(CLI::App& app, DescribeModelArguments& wanted) {
  app.add_option("FILE", wanted.file, "a Hugging Face config.json")->required();
  runtime::AddNumber(app, "--samples", wanted.samples, {1, 65536},
                     "samples in a micro-batch")
      ->capture_default_str();
  runtime::AddNumber(app, "--tokens", wanted.tokens, {1, kTokensMax},
                     "tokens in a sample; default: the model's context");
  runtime::AddNumber(app, "--threads", wanted.threads, {1, kThreadsMax},
                     "threads of the trainer")
      ->capture_default_str();
  app.add_flag("--recompute", wanted.recompute,
               "as for a job with training.recompute");
  CLI::Option* stages =
      runtime::AddNumber(app, "--stages", wanted.stages, {1, 4096},
                         "cut into so many stages of about equal work; "
                         "default: not cut");
  app.add_option("--cut", wanted.cuts,
                 "cut before these operators, with commas between them; "
                 "default: not cut")
      ->type_name("OPERATORS")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(stages);
}

}  // namespace

Command DescribeModelCommand() {
  return MakeCommand<DescribeModelArguments>(
      {.words = "describe model",
       .about = "what training a config.json would take",
       .add_options = AddOptions,
       .run = DescribeModel});
}

}  // namespace skerry::cli
