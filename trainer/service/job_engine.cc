#include "trainer/service/job_engine.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "model/cpu/gemm.h"
#include "model/cpu/gemm_choice.h"
#include "model/spec/model_config.h"
#include "runtime/log.h"
#include "runtime/posix/sentencepiece_program.h"
#include "runtime/posix/stopwatch.h"
#include "trainer/convert/training_options.h"
#include "trainer/core/language_model_trainer.h"
#include "trainer/service/data_directory.h"

namespace skerry::trainer {
namespace {

// Enough rows for a product's speed to show, few enough for all measurements
// of a wide model to end within a second.
constexpr int64_t kMeasuredTokensMax = 256;

void LogMeasurement(const model::cpu::GemmMeasurement& measurement,
                    bool is_chosen) {
  runtime::Log(runtime::Severity::kInfo, "trainer.gemm.measured",
               {{"library", measurement.backend->name()},
                {"flops_per_s", measurement.FlopsPerSecond()},
                {"chosen", is_chosen}});
}

// Measures the fp32 libraries and returns the fastest. If the job wants bf16,
// its library is measured too, for the log.
const model::cpu::GemmBackend& MeasureGemmBackends(
    const model::ModelConfig& config, int64_t tokens, Compute compute) {
  const std::vector<model::cpu::GemmShape> shapes =
      model::cpu::TypicalGemmShapes(
          config.n_embd, config.inner_size(),
          static_cast<int>(std::min(tokens, kMeasuredTokensMax)));
  const runtime::Stopwatch stopwatch;
  const auto measure =
      [&](std::span<const model::cpu::GemmBackend* const> backends) {
        return model::cpu::MeasureGemm(backends, shapes,
                                       [&] { return stopwatch.Seconds(); });
      };
  const auto measurements = measure(model::cpu::AllGemmBackends());
  const model::cpu::GemmMeasurement& best =
      model::cpu::ChooseGemm(measurements);
  for (const model::cpu::GemmMeasurement& measurement : measurements) {
    LogMeasurement(measurement, &measurement == &best);
  }
  if (compute == Compute::kFp32) return *best.backend;
  const model::cpu::GemmBackend* const bf16 = model::cpu::Bf16Gemm();
  if (bf16 != nullptr) {
    LogMeasurement(measure({&bf16, 1}).front(), true);
  } else {
    runtime::Log(
        runtime::Severity::kWarning, "trainer.compute.fp32",
        {{"wanted", "bf16"}, {"reason", "the processor has no AVX-512 BF16"}});
  }
  return *best.backend;
}

}  // namespace

absl::StatusOr<JobTrainer> MakeJobEngine(
    const v1::JobSpec& job, ShardCheck check, ParallelExecutor& executor,
    const std::function<void()>& on_piece) {
  SKERRY_ASSIGN_OR_RETURN(const TrainingOptions options,
                          TrainingOptionsFromProto(job));
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig config,
                          model::ParseModelConfig(options.config_json));
  SKERRY_ASSIGN_OR_RETURN(
      DataDirectory directory,
      OpenDataDirectory(job.data().path(), job.data().manifest_sha256(), check,
                        runtime::SentencePieceBeside(), on_piece));
  const int64_t columns = options.sequence_tokens == 0
                              ? config.n_positions
                              : options.sequence_tokens;
  const model::cpu::GemmBackend& gemm = MeasureGemmBackends(
      config, columns * options.micro_batch_samples, options.compute);
  on_piece();
  JobTrainer result;
  result.files = std::move(directory.files);
  SKERRY_ASSIGN_OR_RETURN(
      result.trainer, LanguageModelTrainer::Create(
                          options, std::move(directory.data), executor, &gemm));
  return result;
}

}  // namespace skerry::trainer
