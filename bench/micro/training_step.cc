#include "bench/micro/training_step.h"

#include "base/check.h"
#include "base/random.h"
#include "optimizer/inner/clip.h"

namespace skerry {

model::ModelConfig ConfigOf(const StepShape& shape) {
  model::ModelConfig config;
  config.vocab_size = shape.vocab;
  config.n_positions = shape.columns;
  config.n_embd = shape.width;
  config.n_layer = shape.layers;
  config.n_head = shape.heads;
  return config;
}

TrainingStep::TrainingStep(const StepShape& shape,
                           const model::cpu::GemmBackend& gemm,
                           ParallelExecutor& executor)
    : shape_(shape), executor_(executor) {
  const model::ModelConfig config = ConfigOf(shape);
  auto created = model::LanguageModel::Create(
      config, {.rows_max = shape.rows, .gemm = &gemm}, executor);
  SKERRY_CHECK(created.ok());
  model_ = *std::move(created);
  model::InitializeParameters(model_->layout(), config, 1,
                              model_->parameters());
  std::vector<optimizer::Tensor> tensors;
  for (const model::ParameterTensor& tensor : model_->layout().tensors()) {
    const auto begin = static_cast<uint64_t>(tensor.offset);
    tensors.push_back({{begin, begin + static_cast<uint64_t>(tensor.elements)},
                       tensor.weight_decay});
  }
  adamw_ =
      std::make_unique<optimizer::AdamW>(optimizer::AdamWOptions{}, tensors);
  const size_t tokens =
      static_cast<size_t>(shape.rows) * static_cast<size_t>(shape.columns);
  Random random(2);
  const auto draw = [&] {
    return static_cast<int32_t>(
        random.Below(static_cast<uint64_t>(shape.vocab)));
  };
  for (size_t i = 0; i < tokens; ++i) {
    inputs_.push_back(draw());
    targets_.push_back(draw());
  }
}

float TrainingStep::Run() {
  model_->ZeroGradients();
  const float loss = model_->ForwardBackward(
      {shape_.rows, shape_.columns, inputs_, targets_}, 1);
  const double norm = optimizer::GlobalNorm(model_->gradients(), executor_);
  adamw_->Step(model_->parameters(), model_->gradients(), 1e-4f,
               optimizer::ClipFactor(norm, 1), executor_);
  return loss;
}

double TrainingStep::flops() const {
  const model::Graph& graph = model_->graph();
  const model::Work work =
      model::StageWork(graph, {0, static_cast<int>(graph.operators.size())},
                       shape_.rows, shape_.columns);
  return work.forward_flops + work.backward_flops;
}

}  // namespace skerry
