#include "trainer/core/language_model_trainer.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/status.h"
#include "data/byte_tokenizer.h"
#include "model/spec/graph.h"
#include "optimizer/inner/clip.h"
#include "optimizer/inner/inner_options.h"
#include "optimizer/inner/schedule.h"
#include "trainer/core/element_ranges.h"
#include "trainer/core/engine_inner.h"
#include "trainer/core/step_plan.h"
#include "trainer/core/text_generator.h"

namespace skerry::trainer {
namespace {

absl::Status Stopped() { return absl::AbortedError("the trainer was paused"); }

std::unique_ptr<data::TextCodec> TakeCodec(TrainingData& data) {
  if (data.codec == nullptr && data.tokenizer == data::kByteTokenizerName) {
    return data::MakeByteCodec();
  }
  return std::move(data.codec);
}

// What multiplies the model's matrices; the optimizer's and those of text are
// `fp32`'s.
const model::cpu::GemmBackend& ModelGemm(const TrainingOptions& options,
                                         const model::cpu::GemmBackend& fp32) {
  const model::cpu::GemmBackend* bf16 =
      options.compute == Compute::kBf16 ? model::cpu::Bf16Gemm() : nullptr;
  return bf16 == nullptr ? fp32 : *bf16;
}

// Samples of so many steps are asked for ahead, so that a step does not wait
// for a disk.
constexpr size_t kStepsAhead = 4;

// Whether the shards hold one sample at least. A split that is shorter, as a
// small data set has it, is of no use, and the job trains without evaluations.
bool HasSample(const std::vector<data::TokenShard>& shards, int tokens) {
  uint64_t held = 0;
  for (const data::TokenShard& shard : shards) held += shard.size();
  return held > static_cast<uint64_t>(tokens);
}

uint64_t LayoutHash(const model::ParameterLayout& layout) {
  uint64_t hash = 0;
  for (const model::ParameterTensor& tensor : layout.tensors()) {
    hash = CombineHash(hash, Hash64Of(std::span<const char>(tensor.name)));
    hash = CombineHash(hash, Hash64Of(std::span<const int64_t>(tensor.shape)));
  }
  return hash;
}

double FlopsPerSample(const model::Graph& graph, int tokens) {
  const model::Stage all = {0, static_cast<int>(graph.operators.size())};
  const model::Work work = model::StageWork(graph, all, 1, tokens);
  return work.forward_flops + work.backward_flops;
}

}  // namespace

absl::StatusOr<std::unique_ptr<LanguageModelTrainer>>
LanguageModelTrainer::Create(const TrainingOptions& options, TrainingData data,
                             ParallelExecutor& executor,
                             const model::cpu::GemmBackend* gemm) {
  SKERRY_RETURN_IF_ERROR(ValidateTrainingOptions(options));
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig config,
                          model::ParseModelConfig(options.config_json));
  if (data.vocab_size > config.vocab_size) {
    return absl::InvalidArgumentError(absl::StrCat("the data have ",
                                                   data.vocab_size,
                                                   " different tokens, but the "
                                                   "model's vocab_size is ",
                                                   config.vocab_size,
                                                   "; prepare them with the "
                                                   "model's tokenizer"));
  }
  const int tokens = options.sequence_tokens == 0 ? config.n_positions
                                                  : options.sequence_tokens;
  if (tokens > config.positions_max()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "data.sequence_tokens is ", tokens,
        ", but the model's context ends at ", config.positions_max()));
  }
  const data::SampleSource::Options source_options = {
      .context_length = tokens,
      .vocab_size = config.vocab_size,
      .seed = options.data_seed};
  SKERRY_ASSIGN_OR_RETURN(
      data::SampleSource training,
      data::SampleSource::Create(data.training, source_options));
  std::optional<data::SampleSource> validation;
  if (HasSample(data.validation, tokens)) {
    SKERRY_ASSIGN_OR_RETURN(
        data::SampleSource source,
        data::SampleSource::Create(data.validation, source_options));
    validation.emplace(std::move(source));
  }
  const model::cpu::GemmBackend& fp32 =
      gemm == nullptr ? model::cpu::DefaultGemmBackend() : *gemm;
  SKERRY_ASSIGN_OR_RETURN(
      std::unique_ptr<model::LanguageModel> model,
      model::LanguageModel::Create(config,
                                   {.rows_max = options.micro_batch_samples,
                                    .columns_max = tokens,
                                    .gemm = &ModelGemm(options, fp32),
                                    .recompute = options.recompute,
                                    .dropout_seed = options.data_seed},
                                   executor));
  return std::unique_ptr<LanguageModelTrainer>(new LanguageModelTrainer(
      options, std::move(model), std::move(training), std::move(validation),
      data.tokenizer, TakeCodec(data), std::move(data.will_read), fp32,
      executor));
}

LanguageModelTrainer::LanguageModelTrainer(
    const TrainingOptions& options, std::unique_ptr<model::LanguageModel> model,
    data::SampleSource training, std::optional<data::SampleSource> validation,
    std::string tokenizer, std::unique_ptr<data::TextCodec> codec,
    std::function<void(std::span<const std::byte>)> will_read,
    const model::cpu::GemmBackend& gemm, ParallelExecutor& executor)
    : options_(options),
      model_(std::move(model)),
      training_(std::move(training)),
      validation_(std::move(validation)),
      tokenizer_(std::move(tokenizer)),
      codec_(std::move(codec)),
      will_read_(std::move(will_read)),
      gemm_(gemm),
      executor_(executor),
      products_(gemm),
      optimizer_(optimizer::MakeInnerOptimizer(
          options.inner, InnerTensors(model_->graph()), products_)) {
  model::InitializeParameters(model_->layout(), model_->config(),
                              options_.model_seed, model_->parameters());
  description_ = {
      .element_count = model_->parameters().size(),
      .epoch_samples = training_.sample_count(),
      .validation_samples =
          validation_.has_value() ? validation_->sample_count() : 0,
      .flops_per_sample =
          FlopsPerSample(model_->graph(), training_.context_length()),
      .initial_hash = Hash64Of(std::span<const float>(model_->parameters())),
      .layout_hash = LayoutHash(model_->layout()),
      .capabilities = {.evaluates = true,
                       .generates = true,
                       .groups = true,
                       .saves_inner = true},
      .export_files = {},
      .tensors = {}};
  const size_t tokens = static_cast<size_t>(options_.micro_batch_samples) *
                        static_cast<size_t>(training_.context_length());
  inputs_.resize(tokens);
  targets_.resize(tokens);
}

absl::StatusOr<RunResult> LanguageModelTrainer::Run(const RunRequest& request,
                                                    StopRequested stop) {
  SKERRY_RETURN_IF_ERROR(ValidateRunRequest(request));
  StepPlan plan(request);
  RunResult result;
  std::deque<std::vector<uint64_t>> planned;
  const auto plan_ahead = [&] {
    while (planned.size() <= kStepsAhead) {
      std::vector<uint64_t> next = plan.Next();
      if (next.empty()) return;
      WillRead(next);
      planned.push_back(std::move(next));
    }
  };
  for (plan_ahead(); !planned.empty(); plan_ahead()) {
    SKERRY_RETURN_IF_ERROR(Step(planned.front(), stop, result));
    planned.pop_front();
  }
  result.loss /= static_cast<double>(result.samples);
  return result;
}

void LanguageModelTrainer::WillRead(std::span<const uint64_t> positions) const {
  if (will_read_ == nullptr) return;
  training_.EveryRange(RankPart(positions, rank(), size()), will_read_);
}

absl::Status LanguageModelTrainer::Step(std::span<const uint64_t> positions,
                                        StopRequested stop, RunResult& result) {
  SKERRY_ASSIGN_OR_RETURN(const double share, Gradients(positions, stop));
  float loss = static_cast<float>(share);
  SKERRY_RETURN_IF_ERROR(Reduce(std::span<float>(&loss, 1)));
  SKERRY_RETURN_IF_ERROR(Reduce(model_->gradients()));
  const double norm = optimizer::GlobalNorm(model_->gradients(), executor_);
  // Every member has the same two numbers, so all end here or none.
  if (!std::isfinite(loss) || !std::isfinite(norm)) {
    return absl::InternalError(
        absl::StrCat("the loss (", loss, ") or the gradient's norm (", norm,
                     ") is not finite at position ", positions.front(),
                     "; lower the learning rate, or restart from the anchor"));
  }
  const float rate = NextLearningRate(positions);
  optimizer_->Step(model_->parameters(), model_->gradients(), rate,
                   optimizer::ClipFactor(norm, options_.clip_norm), executor_);
  result.samples += positions.size();
  result.inner_steps += 1;
  result.loss +=
      static_cast<double>(loss) * static_cast<double>(positions.size());
  result.gradient_norm = norm;
  result.learning_rate = static_cast<double>(rate);
  StepDone();
  return absl::OkStatus();
}

absl::StatusOr<double> LanguageModelTrainer::Gradients(
    std::span<const uint64_t> positions, StopRequested stop) {
  std::span<const uint64_t> mine = RankPart(positions, rank(), size());
  const size_t columns = static_cast<size_t>(training_.context_length());
  double share = 0;
  model_->ZeroGradients();
  while (!mine.empty()) {
    if (stop()) return Stopped();
    const size_t rows = std::min<size_t>(
        mine.size(), static_cast<size_t>(options_.micro_batch_samples));
    const std::span<int32_t> inputs(inputs_.data(), rows * columns);
    const std::span<int32_t> targets(targets_.data(), rows * columns);
    SKERRY_RETURN_IF_ERROR(training_.Fill(mine.first(rows), inputs, targets));
    const float weight =
        static_cast<float>(rows) / static_cast<float>(positions.size());
    const float loss = model_->ForwardBackward(
        {static_cast<int>(rows), static_cast<int>(columns), inputs, targets,
         mine.first(rows)},
        weight);
    share += static_cast<double>(loss) * static_cast<double>(weight);
    mine = mine.subspan(rows);
  }
  return share;
}

float LanguageModelTrainer::NextLearningRate(
    std::span<const uint64_t> positions) {
  progress_ = std::max(
      progress_, *std::max_element(positions.begin(), positions.end()) + 1);
  return optimizer::LearningRate(ScheduleOf(options_), progress_,
                                 options_.samples_total);
}

absl::Status LanguageModelTrainer::Reduce(std::span<float> values) {
  if (size() == 1) return absl::OkStatus();
  return island_->AllReduceSum(values);
}

absl::Status LanguageModelTrainer::Snapshot(
    std::span<const ElementRange> ranges, std::span<float> state) {
  return CopyRanges(ranges, model_->parameters(), state);
}

absl::Status LanguageModelTrainer::Load(std::span<const ElementRange> ranges,
                                        std::span<const RankRange> owners,
                                        std::span<const float> state) {
  if (size() > 1 || !owners.empty()) {
    SKERRY_RETURN_IF_ERROR(ValidateOwners(
        owners, ranges, description_.element_count, rank(), size()));
  }
  SKERRY_RETURN_IF_ERROR(CopyRanges(ranges, state, model_->parameters()));
  if (size() == 1) return absl::OkStatus();
  return ShareOwned(owners, *island_, model_->parameters());
}

absl::Status LanguageModelTrainer::JoinGroup(Collective* island) {
  island_ = island;
  return size() == 1 ? absl::OkStatus() : ShareProgress();
}

absl::Status LanguageModelTrainer::ShareProgress() {
  // Counts as pairs of floats, because a float alone is exact only to 2^24.
  constexpr uint64_t kBase = uint64_t{1} << 20;
  constexpr size_t kColumns = 4;
  std::vector<float> table(static_cast<size_t>(size()) * kColumns, 0.f);
  float* mine = table.data() + static_cast<size_t>(rank()) * kColumns;
  for (const uint64_t count : {optimizer_->steps(), progress_}) {
    *mine++ = static_cast<float>(count / kBase);
    *mine++ = static_cast<float>(count % kBase);
  }
  SKERRY_RETURN_IF_ERROR(island_->AllReduceSum(table));
  const auto count_of = [&](int member, size_t column) {
    const float* row = table.data() + static_cast<size_t>(member) * kColumns;
    return static_cast<uint64_t>(row[column]) * kBase +
           static_cast<uint64_t>(row[column + 1]);
  };
  int root = 0;
  for (int member = 0; member < size(); ++member) {
    if (count_of(member, 0) > count_of(root, 0)) root = member;
    progress_ = std::max(progress_, count_of(member, 2));
  }
  optimizer_->set_steps(count_of(root, 0));
  for (const optimizer::StateSlot& slot : optimizer_->state()) {
    if (slot.values.empty()) continue;
    SKERRY_RETURN_IF_ERROR(island_->Broadcast(slot.values, root));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> LanguageModelTrainer::SaveInner(
    const InnerLabel& label, InnerFile& file) {
  return SaveEngineInner(model_->layout(), label, progress_, *optimizer_, file);
}

absl::StatusOr<InnerProgress> LanguageModelTrainer::LoadInner(
    uint64_t layout_hash, InnerFile& file) {
  return LoadEngineInner(model_->layout(), layout_hash, file, *optimizer_,
                         progress_);
}

absl::StatusOr<EvaluateResult> LanguageModelTrainer::Evaluate(
    uint64_t samples_max, StopRequested stop) {
  if (!validation_.has_value()) {
    return absl::FailedPreconditionError(
        "the data have no validation split; prepare them with one");
  }
  const uint64_t samples =
      samples_max == 0 ? validation_->sample_count()
                       : std::min(samples_max, validation_->sample_count());
  const size_t columns = static_cast<size_t>(validation_->context_length());
  double sum = 0;
  for (uint64_t done = 0; done < samples;) {
    if (stop()) return Stopped();
    const int rows = static_cast<int>(std::min<uint64_t>(
        samples - done, static_cast<uint64_t>(options_.micro_batch_samples)));
    const size_t tokens = static_cast<size_t>(rows) * columns;
    const std::span<int32_t> inputs(inputs_.data(), tokens);
    const std::span<int32_t> targets(targets_.data(), tokens);
    SKERRY_RETURN_IF_ERROR(
        validation_->FillInOrder(done, rows, inputs, targets));
    sum += static_cast<double>(model_->Loss(
               {rows, static_cast<int>(columns), inputs, targets})) *
           rows;
    done += static_cast<uint64_t>(rows);
  }
  if (!std::isfinite(sum)) {
    return absl::InternalError("the validation loss is not finite");
  }
  return EvaluateResult{sum / static_cast<double>(samples), samples};
}

absl::StatusOr<std::string> LanguageModelTrainer::Generate(
    const GenerateRequest& request, StopRequested stop) {
  if (codec_ == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "no text can be generated: the data name the tokenizer '", tokenizer_,
        "' and hold no file of it; prepare them with one"));
  }
  const TextOptions options = {.tokens = request.tokens,
                               .sampling = {.temperature = request.temperature},
                               .seed = request.seed,
                               .stops = {}};
  SKERRY_RETURN_IF_ERROR(ValidateTextOptions(options));
  const TextModel model = {.graph = model_->graph(),
                           .parameters = model_->parameters(),
                           .context = training_.context_length(),
                           .gemm = gemm_,
                           .executor = executor_};
  const std::string prompts[] = {request.prompt};
  SKERRY_ASSIGN_OR_RETURN(
      const std::vector<GeneratedText> texts,
      GenerateTexts(model, *codec_, prompts, options, stop));
  return texts[0].text;
}

}  // namespace skerry::trainer
