#include "cli/commands/describe_model.h"

#include <cstdint>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "cli/read_file.h"
#include "cli/table.h"
#include "model/exec/model_summary.h"
#include "model/spec/model_config.h"

namespace skerry::cli {
namespace {

using model::ModelSummary;

constexpr size_t kConfigBytesMax = 256 * 1024;
constexpr int kThreadsMax = 4096;

absl::Status CheckRange(const char* name, int value, int64_t max) {
  if (value >= 1 && value <= max) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", value, ", must be 1 to ", max));
}

std::string FlopsText(double flops) {
  constexpr const char* kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  for (; flops >= 1000 && unit + 1 < std::size(kUnits); ++unit) flops /= 1000;
  return absl::StrFormat("%.4g %sFLOP", flops, kUnits[unit]);
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
void PrintJson(const model::ModelConfig& config, int samples, int tokens,
               const ModelSummary& summary, std::ostream& out) {
  const auto text = [](int64_t value) { return absl::StrCat(value); };
  const nlohmann::ordered_json object = {
      {"model_type", config.model_type},
      {"parameters", text(summary.parameters)},
      {"tensors", text(summary.tensors)},
      {"samples", samples},
      {"sequence_tokens", tokens},
      {"forward_flops", summary.work.forward_flops},
      {"backward_flops", summary.work.backward_flops},
      {"recompute_flops", summary.recompute_flops},
      {"memory_bytes", text(summary.total_bytes())},
      {"parameter_bytes", text(summary.parameter_bytes)},
      {"gradient_bytes", text(summary.gradient_bytes)},
      {"optimizer_bytes", text(summary.optimizer_bytes)},
      {"activation_bytes", text(summary.activation_bytes)},
      {"workspace_bytes", text(summary.workspace_bytes)}};
  out << object.dump(1) << "\n";
}

}  // namespace

absl::Status DescribeModel(const DescribeModelArguments& arguments,
                           const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const std::string text,
                          ReadFile(arguments.file, kConfigBytesMax));
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig config,
                          model::ParseModelConfig(text));
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
  const ModelSummary summary = model::SummarizeModel(
      config, arguments.samples, tokens, arguments.threads,
      arguments.recompute ? model::Recompute::kBlocks
                          : model::Recompute::kNothing);
  if (output.form == OutputForm::kJson) {
    PrintJson(config, arguments.samples, tokens, summary, output.out);
  } else {
    PrintTable(config, arguments.samples, tokens, summary, output.out);
  }
  return absl::OkStatus();
}

}  // namespace skerry::cli
