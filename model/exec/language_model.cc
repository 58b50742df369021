#include "model/exec/language_model.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/status.h"
#include "model/cpu/gemm.h"
#include "model/exec/graph_runner.h"
#include "model/spec/batch_tokens.h"
#include "model/spec/model_graph.h"

namespace skerry::model {

class LanguageModel::Impl {
 public:
  Impl(const ModelConfig& config, const Options& options)
      : config(config),
        rows_max(options.rows_max),
        columns_max(options.columns_max),
        dropout_seed(options.dropout_seed),
        graph(BuildGraph(config)),
        parameters(graph.layout.element_count()),
        gradients(graph.layout.element_count()) {}

  absl::Status CheckIds(absl::string_view what,
                        std::span<const int32_t> ids) const {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0 || ids[i] >= config.vocab_size) {
        return absl::InvalidArgumentError(
            absl::StrCat("batch: ", what, "[", i, "] is token ", ids[i],
                         ", the model's vocabulary has ", config.vocab_size));
      }
    }
    return absl::OkStatus();
  }

  // Runs the body on the batch's inputs.
  void Forward(std::span<const int32_t> inputs, int rows, int columns,
               std::span<const uint64_t> samples = {}) {
    runner->Forward({rows, columns, inputs, samples, dropout_seed}, parameters);
  }

  const ModelConfig config;
  const int rows_max;
  const int columns_max;
  const uint64_t dropout_seed;
  const Graph graph;
  std::vector<float> parameters;
  std::vector<float> gradients;
  std::unique_ptr<GraphRunner> runner;
};

LanguageModel::LanguageModel(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
LanguageModel::~LanguageModel() = default;

absl::StatusOr<std::unique_ptr<LanguageModel>> LanguageModel::Create(
    const ModelConfig& config, const Options& options,
    ParallelExecutor& executor) {
  SKERRY_RETURN_IF_ERROR(ValidateModelConfig(config));
  Options resolved = options;
  if (resolved.columns_max == 0) resolved.columns_max = config.n_positions;
  if (resolved.columns_max < 1 ||
      resolved.columns_max > config.positions_max()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "columns_max is ", resolved.columns_max,
        ", must be 1 to the model's context of ", config.positions_max()));
  }
  const int rows_limit = kBatchTokensMax / resolved.columns_max;
  if (resolved.rows_max < 1 || resolved.rows_max > rows_limit) {
    return absl::InvalidArgumentError(absl::StrCat(
        "rows_max is ", resolved.rows_max, ", must be 1 to ", rows_limit));
  }
  if (resolved.gemm == nullptr) resolved.gemm = &cpu::DefaultGemmBackend();
  std::unique_ptr<Impl> impl;
  try {
    impl = std::make_unique<Impl>(config, resolved);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        "model: no memory for the parameters and their gradients");
  }
  SKERRY_ASSIGN_OR_RETURN(
      impl->runner,
      GraphRunner::Create(impl->graph, resolved.rows_max, resolved.columns_max,
                          resolved.recompute, *resolved.gemm, executor));
  return std::unique_ptr<LanguageModel>(new LanguageModel(std::move(impl)));
}

const ModelConfig& LanguageModel::config() const { return impl_->config; }
const Graph& LanguageModel::graph() const { return impl_->graph; }
const ParameterLayout& LanguageModel::layout() const {
  return impl_->graph.layout;
}
std::span<float> LanguageModel::parameters() { return impl_->parameters; }
std::span<float> LanguageModel::gradients() { return impl_->gradients; }

void LanguageModel::ZeroGradients() {
  std::fill(impl_->gradients.begin(), impl_->gradients.end(), 0.0f);
}

absl::Status LanguageModel::ValidateBatch(const Batch& batch) const {
  if (batch.rows < 1 || batch.rows > impl_->rows_max || batch.columns < 1 ||
      batch.columns > impl_->columns_max) {
    return absl::InvalidArgumentError(absl::StrCat(
        "batch: ", batch.rows, " x ", batch.columns, " tokens, the model was ",
        "made for up to ", impl_->rows_max, " x ", impl_->columns_max));
  }
  const size_t tokens = static_cast<size_t>(batch.rows) * batch.columns;
  if (batch.inputs.size() != tokens || batch.targets.size() != tokens) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch: ", batch.inputs.size(), " inputs and ",
                     batch.targets.size(), " targets for ", tokens, " tokens"));
  }
  if (!batch.samples.empty() &&
      batch.samples.size() != static_cast<size_t>(batch.rows)) {
    return absl::InvalidArgumentError(
        absl::StrCat("batch: ", batch.samples.size(), " numbers of samples ",
                     "for ", batch.rows, " rows"));
  }
  SKERRY_RETURN_IF_ERROR(impl_->CheckIds("inputs", batch.inputs));
  return impl_->CheckIds("targets", batch.targets);
}

float LanguageModel::ForwardBackward(const Batch& batch, float scale) {
  SKERRY_CHECK(ValidateBatch(batch).ok());
  const double tokens = static_cast<double>(batch.rows) * batch.columns;
  impl_->Forward(batch.inputs, batch.rows, batch.columns, batch.samples);
  const double sum = impl_->runner->HeadBackward(
      batch.targets, static_cast<float>(scale / tokens), impl_->parameters,
      impl_->gradients);
  impl_->runner->Backward(impl_->parameters, impl_->gradients);
  return static_cast<float>(sum / tokens);
}

float LanguageModel::Loss(const Batch& batch) {
  SKERRY_CHECK(ValidateBatch(batch).ok());
  const double tokens = static_cast<double>(batch.rows) * batch.columns;
  impl_->Forward(batch.inputs, batch.rows, batch.columns);
  return static_cast<float>(
      impl_->runner->HeadLoss(batch.targets, impl_->parameters) / tokens);
}

void LanguageModel::Logits(std::span<const int32_t> inputs, int rows,
                           int columns, std::span<float> logits) {
  SKERRY_CHECK(ValidateBatch({rows, columns, inputs, inputs}).ok());
  SKERRY_CHECK(logits.size() == inputs.size() * impl_->config.vocab_size);
  impl_->Forward(inputs, rows, columns);
  impl_->runner->HeadLogits(impl_->parameters, logits);
}

}  // namespace skerry::model
