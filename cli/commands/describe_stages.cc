#include "cli/commands/describe_stages.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cli/did_you_mean.h"
#include "cli/table.h"
#include "model/spec/balanced_cut.h"
#include "model/spec/graph_cut.h"

namespace skerry::cli {
namespace {

// Keeps the search, stages * operators^2, to about a second.
constexpr int kStagesMax = 256;

std::string Bytes(int64_t count) {
  return BytesText(static_cast<uint64_t>(count));
}

int64_t SentBytes(const model::StageSummary& stage) {
  int64_t sum = 0;
  for (const model::CrossingValue& value : stage.sent) sum += value.bytes;
  return sum;
}

}  // namespace

absl::StatusOr<std::vector<int>> CutsBefore(
    const model::Graph& graph, const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const model::Operator& op : graph.operators) known.push_back(op.name);
  std::vector<int> cuts;
  for (const std::string& name : names) {
    const auto it = std::find(known.begin(), known.end(), name);
    if (it == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--cut: the model has no operator ", name, DidYouMean(name, known)));
    }
    cuts.push_back(static_cast<int>(it - known.begin()));
  }
  SKERRY_RETURN_IF_ERROR(model::ValidateCuts(graph, cuts));
  return cuts;
}

absl::StatusOr<std::vector<int>> CutsInto(const model::Graph& graph, int stages,
                                          int rows, int columns) {
  const int most = std::min(
      kStagesMax, static_cast<int>(model::CutPositions(graph).size()) + 1);
  if (stages < 1 || stages > most) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--stages is ", stages, ", must be 1 to ", most, " for this model"));
  }
  return model::BalancedCut(graph, stages, rows, columns);
}

std::string FlopsText(double flops) {
  constexpr const char* kUnits[] = {"", "K", "M", "G", "T", "P", "E"};
  size_t unit = 0;
  for (; flops >= 1000 && unit + 1 < std::size(kUnits); ++unit) flops /= 1000;
  return absl::StrFormat("%.4g %sFLOP", flops, kUnits[unit]);
}

std::string StagesText(const model::CutSummary& cut, int rows, int columns) {
  Table table({{"STAGE", Align::kRight},
               {"FROM"},
               {"TO"},
               {"PARAMETERS", Align::kRight},
               {"WORK", Align::kRight},
               {"ACTIVATIONS", Align::kRight},
               {"MEMORY", Align::kRight},
               {"SENDS", Align::kRight}});
  std::string crossing;
  for (size_t i = 0; i < cut.stages.size(); ++i) {
    const model::StageSummary& stage = cut.stages[i];
    const model::Work& work = stage.own.work;
    table.AddRow({absl::StrCat(i), stage.first, stage.last,
                  absl::StrCat(stage.own.parameters),
                  FlopsText(work.forward_flops + work.backward_flops +
                            stage.own.recompute_flops),
                  Bytes(stage.own.activation_bytes),
                  Bytes(stage.own.total_bytes()),
                  stage.sent.empty() ? "" : Bytes(SentBytes(stage))});
    for (const model::CrossingValue& value : stage.sent) {
      absl::StrAppendFormat(&crossing, "From %d to %d: %s [%d, %d, %d], %s\n",
                            i, i + 1, value.name, rows, columns, value.width,
                            Bytes(value.bytes));
    }
  }
  std::string text = absl::StrCat("\n", table.Text());
  if (!crossing.empty()) {
    absl::StrAppend(&text, "\nForward a micro-batch, and as much back:\n",
                    crossing);
  }
  for (const model::SharedSummary& shared : cut.shared) {
    absl::StrAppend(&text, "\nIn stages ",
                    absl::StrJoin(shared.stages, " and "), ": ", shared.tensor,
                    "; its gradient, ", Bytes(shared.gradient_bytes),
                    ", goes back with every micro-batch\n");
  }
  return text;
}

}  // namespace skerry::cli
