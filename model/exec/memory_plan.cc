#include "model/exec/memory_plan.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/algorithm/container.h"
#include "base/check.h"

namespace skerry::model {
namespace {

// Gradient places that nobody uses, by size.
class Places {
 public:
  explicit Places(int64_t* end) : end_(end) {}

  int64_t Take(int64_t width) {
    const auto it = free_.lower_bound(width);
    if (it == free_.end()) {
      const int64_t offset = *end_;
      *end_ += width;
      sizes_[offset] = width;
      users_[offset] = 1;
      return offset;
    }
    const int64_t offset = it->second;
    free_.erase(it);
    users_[offset] = 1;
    return offset;
  }

  void Share(int64_t offset) { ++users_[offset]; }
  bool HasOneUser(int64_t offset) const { return users_.at(offset) == 1; }

  void Drop(int64_t offset) {
    if (--users_[offset] == 0) free_.emplace(sizes_[offset], offset);
  }

 private:
  int64_t* const end_;
  std::multimap<int64_t, int64_t> free_;  // size -> offset
  std::map<int64_t, int64_t> sizes_;
  std::map<int64_t, int> users_;
};

class Planner {
 public:
  Planner(const Graph& graph, Recompute recompute)
      : graph_(graph), readers_(graph.values.size()) {
    body_ = BodySize(graph);
    SKERRY_CHECK(body_ >= 0 && !graph.operators.empty());
    for (int i = 0; i < body_ + (HasHead(graph) ? 1 : 0); ++i) {
      SKERRY_CHECK(i < body_ ||
                   graph.operators[i].kind == OperatorKind::kLinear);
      for (const int value : graph.operators[i].inputs) {
        readers_[value].push_back(i);
      }
    }
    for (const int value : graph.outputs) readers_[value].push_back(body_);
    plan_.value_offset.assign(graph.values.size(), kNone);
    plan_.gradient_offset.assign(graph.values.size(), kNone);
    plan_.operators.resize(graph.operators.size());
    plan_.runs = CutForRecompute(graph, recompute);
  }

  MemoryPlan Plan() && {
    PlaceValues();
    plan_.value_floats_per_token = plan_.floats_per_token;
    PlaceGradients();
    return std::move(plan_);
  }

 private:
  int64_t Take(int64_t width) {
    const int64_t offset = plan_.floats_per_token;
    plan_.floats_per_token += width;
    return offset;
  }

  bool IsInput(int value) const {
    return absl::c_linear_search(graph_.inputs, value);
  }

  void PlaceValues() {
    for (const int value : graph_.inputs) {
      plan_.value_offset[value] = Take(graph_.values[value].width);
    }
    for (const Stage& run : plan_.runs) {
      if (run.end == body_) continue;
      const int handed_on = ValuesCrossing(graph_, run.end).front();
      plan_.value_offset[handed_on] = Take(graph_.values[handed_on].width);
    }
    const int64_t shared = plan_.floats_per_token;
    int64_t end = shared;
    for (const Stage& run : plan_.runs) {
      plan_.floats_per_token = shared;
      PlaceValuesOf(run);
      end = std::max(end, plan_.floats_per_token);
    }
    plan_.floats_per_token = end;
  }

  void PlaceValuesOf(const Stage& run) {
    for (int i = run.begin; i < run.end; ++i) {
      const Operator& op = graph_.operators[i];
      OperatorPlan& plan = plan_.operators[i];
      const bool is_branch = AddsToResidual(graph_, i);
      const int made = is_branch ? graph_.operators[i + 1].output : op.output;
      // What one run hands on to the next has its place already.
      const bool is_handed_on = plan_.value_offset[made] != kNone;
      plan.runs_again = run.end != body_ && !is_handed_on;
      if (is_branch) {
        plan.adds_to_residual = true;
        plan_.operators[i + 1].done_by_previous = true;
      } else if (op.kind == OperatorKind::kRotary ||
                 op.kind == OperatorKind::kDropout) {
        SKERRY_CHECK(readers_[op.inputs[0]].size() == 1 && !is_handed_on);
        plan_.value_offset[op.output] = IsInput(op.inputs[0])
                                            ? Take(op.out_width)
                                            : plan_.value_offset[op.inputs[0]];
      } else if (!is_handed_on) {
        plan_.value_offset[op.output] = Take(op.out_width);
      }
      if (op.kind == OperatorKind::kLayerNorm) plan.kept_offset = Take(2);
      if (op.kind == OperatorKind::kRmsNorm) plan.kept_offset = Take(1);
      if (op.kind == OperatorKind::kAttention) {
        plan.kept_offset = Take(op.heads);
      }
    }
  }

  void PlaceGradients() {
    Places places(&plan_.floats_per_token);
    for (const int value : graph_.outputs) {
      plan_.gradient_offset[value] = places.Take(graph_.values[value].width);
    }
    if (HasHead(graph_)) {
      const int last = graph_.operators[body_].inputs[0];
      plan_.gradient_offset[last] = places.Take(graph_.values[last].width);
    }
    for (int i = body_ - 1; i >= 0; --i) {
      const Operator& op = graph_.operators[i];
      const int64_t out = plan_.gradient_offset[op.output];
      SKERRY_CHECK(out != kNone);
      if (op.kind == OperatorKind::kResidualAdd) {
        CheckBranchComesFirst(i);
        for (const int value : op.inputs) ShareGradient(value, out, places);
      } else if (WorksInPlace(op) && places.HasOneUser(out) &&
                 plan_.gradient_offset[op.inputs.back()] == kNone) {
        ShareGradient(op.inputs.back(), out, places);
        PlaceInputs(i, op.inputs.size() - 1, places);
      } else {
        SKERRY_CHECK(op.kind != OperatorKind::kRotary);
        PlaceInputs(i, op.inputs.size(), places);
      }
      places.Drop(out);
    }
  }

  // Whether backward may write the gradient of the last input over that of the
  // output.
  static bool WorksInPlace(const Operator& op) {
    return op.kind == OperatorKind::kActivation ||
           op.kind == OperatorKind::kSwiGlu ||
           op.kind == OperatorKind::kRotary ||
           op.kind == OperatorKind::kDropout;
  }

  // Finds places for the gradients of the first `count` inputs.
  void PlaceInputs(int index, size_t count, Places& places) {
    const Operator& op = graph_.operators[index];
    for (size_t k = 0; k < count; ++k) {
      const int value = op.inputs[k];
      int64_t& in = plan_.gradient_offset[value];
      SKERRY_CHECK(in == kNone || op.inputs.size() == 1);
      plan_.operators[index].accumulates = in != kNone;
      if (in == kNone) in = places.Take(graph_.values[value].width);
    }
  }

  void ShareGradient(int value, int64_t offset, Places& places) {
    SKERRY_CHECK(plan_.gradient_offset[value] == kNone);
    plan_.gradient_offset[value] = offset;
    places.Share(offset);
  }

  void CheckBranchComesFirst(int add) const {
    const Operator& op = graph_.operators[add];
    int producer = kNone;
    for (int i = 0; i < add; ++i) {
      if (graph_.operators[i].output == op.inputs[1]) producer = i;
    }
    for (const int reader : readers_[op.inputs[0]]) {
      SKERRY_CHECK(reader == add || reader < producer);
    }
    SKERRY_CHECK(readers_[op.inputs[1]].size() == 1);
  }

  const Graph& graph_;
  int body_ = 0;  // operators before the head
  std::vector<std::vector<int>> readers_;
  MemoryPlan plan_;
};

}  // namespace

MemoryPlan PlanMemory(const Graph& graph, Recompute recompute) {
  return Planner(graph, recompute).Plan();
}

}  // namespace skerry::model
