#include "model/exec/stage_sequence_testutil.h"

#include <algorithm>

#include "base/check.h"

namespace skerry::model {
namespace {

void Copy(std::span<const float> from, std::span<float> to) {
  SKERRY_CHECK(from.size() == to.size());
  std::copy(from.begin(), from.end(), to.begin());
}

}  // namespace

StageSequence::StageSequence(const Graph& whole, std::span<const int> cuts,
                             int rows, int columns, Recompute recompute,
                             std::span<const float> parameters,
                             uint64_t dropout_seed,
                             const cpu::GemmBackend& gemm,
                             ParallelExecutor& executor, Mistake mistake)
    : whole_(whole),
      stages_(CutGraph(whole, cuts)),
      shared_(SharedTensors(stages_)),
      dropout_seed_(dropout_seed),
      mistake_(mistake) {
  for (const StageGraph& stage : stages_) {
    auto runner = GraphRunner::Create(stage.graph, rows, columns, recompute,
                                      gemm, executor);
    SKERRY_CHECK(runner.ok());
    Member member{&stage, *std::move(runner), {}, {}};
    for (const int tensor : stage.tensors) {
      const auto slice = whole.layout.Slice(parameters, tensor);
      member.parameters.insert(member.parameters.end(), slice.begin(),
                               slice.end());
    }
    member.gradients.assign(member.parameters.size(), 0.0f);
    members_.push_back(std::move(member));
  }
}

void StageSequence::SendForward(size_t from, size_t tokens) {
  Member& a = members_[from];
  Member& b = members_[from + 1];
  const std::vector<int>& sent = a.stage->graph.outputs;
  for (size_t k = 0; k < sent.size(); ++k) {
    Copy(a.runner->Crossing(sent[k], tokens),
         b.runner->Crossing(b.stage->graph.inputs[k], tokens));
  }
}

void StageSequence::SendBack(size_t from, size_t tokens) {
  Member& a = members_[from];
  Member& b = members_[from - 1];
  const std::vector<int>& sent = a.stage->graph.inputs;
  for (size_t k = 0; k < sent.size(); ++k) {
    const auto to =
        b.runner->CrossingGradient(b.stage->graph.outputs[k], tokens);
    Copy(a.runner->CrossingGradient(sent[k], tokens), to);
    if (mistake_ == Mistake::kDropsAGradient && k + 1 == sent.size()) {
      std::fill(to.begin(), to.end(), 0.0f);
    }
  }
}

std::span<float> StageSequence::GradientOf(size_t index, int tensor) {
  const std::vector<int>& own = members_[index].stage->tensors;
  const auto at = std::find(own.begin(), own.end(), tensor);
  SKERRY_CHECK(at != own.end());
  return members_[index].stage->graph.layout.Slice(
      std::span<float>(members_[index].gradients),
      static_cast<int>(at - own.begin()));
}

void StageSequence::TakeSharedSums(size_t index) {
  if (mistake_ == Mistake::kSumsSharedApart) return;
  for (const SharedTensor& shared : shared_) {
    const std::vector<int>& stages = shared.stages;
    for (size_t k = 0; k < stages.size(); ++k) {
      if (static_cast<size_t>(stages[k]) != index) continue;
      const int from = k + 1 == stages.size() ? stages[0] : stages[k + 1];
      Copy(GradientOf(static_cast<size_t>(from), shared.tensor),
           GradientOf(index, shared.tensor));
    }
  }
}

float StageSequence::ForwardBackward(const Batch& batch, float scale) {
  const size_t tokens = batch.inputs.size();
  for (size_t i = 0; i < members_.size(); ++i) {
    if (i > 0) SendForward(i - 1, tokens);
    const auto ids = i == 0 ? batch.inputs : std::span<const int32_t>();
    members_[i].runner->Forward(
        {batch.rows, batch.columns, ids, batch.samples, dropout_seed_},
        members_[i].parameters);
  }
  double sum = 0;
  for (size_t i = members_.size(); i-- > 0;) {
    Member& member = members_[i];
    TakeSharedSums(i);
    if (i + 1 == members_.size()) {
      sum = member.runner->HeadBackward(
          batch.targets,
          static_cast<float>(scale / static_cast<double>(tokens)),
          member.parameters, member.gradients);
    } else {
      SendBack(i + 1, tokens);
    }
    member.runner->Backward(member.parameters, member.gradients);
  }
  return static_cast<float>(sum / static_cast<double>(tokens));
}

std::vector<float> StageSequence::Gradients() const {
  std::vector<float> all(whole_.layout.element_count());
  std::vector<bool> taken(whole_.layout.tensors().size());
  for (const Member& member : members_) {
    for (size_t i = 0; i < member.stage->tensors.size(); ++i) {
      const int tensor = member.stage->tensors[i];
      const auto from = member.stage->graph.layout.Slice(
          std::span<const float>(member.gradients), static_cast<int>(i));
      const auto to = whole_.layout.Slice(std::span<float>(all), tensor);
      const bool adds = taken[tensor] && mistake_ == Mistake::kSumsSharedApart;
      // The whole sum of a shared tensor is at its first stage.
      if (taken[tensor] && !adds) continue;
      for (size_t k = 0; k < to.size(); ++k) {
        to[k] = adds ? to[k] + from[k] : from[k];
      }
      taken[tensor] = true;
    }
  }
  return all;
}

}  // namespace skerry::model
