// bench/micro/engine_steps.cc
//
// Training steps when they are asked for, so that another program can take
// turns with other engines.
//
//   engine_steps --threads N --vocab V --columns T --width C --layers L
//                --heads H --rows B --bf16 0|1
//
// With --bf16 1 matrix products round their operands, where the processor can;
// elsewhere it ends with 3. Prints a line of JSON when it is ready (one step is
// done), then for each line with a number on standard input the seconds that so
// many steps took.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <span>

#include "base/check.h"
#include "bench/micro/training_step.h"
#include "model/cpu/gemm.h"
#include "model/cpu/gemm_choice.h"
#include "runtime/command_line/number_option.h"
#include "runtime/command_line/parse_words.h"
#include "runtime/posix/stopwatch.h"
#include "runtime/posix/thread_pool.h"

namespace skerry {
namespace {

int Main(int argc, char** argv) {
  CLI::App app("Runs training steps when they are asked for.", "engine_steps");
  StepShape shape;
  int threads = 1;
  int bf16_wanted = 0;
  const struct {
    const char* name;
    int& value;
    int low;
    int high;
  } numbers[] = {{"--vocab", shape.vocab, 1, 1 << 24},
                 {"--columns", shape.columns, 1, 1 << 20},
                 {"--width", shape.width, 1, 1 << 16},
                 {"--layers", shape.layers, 1, 4096},
                 {"--heads", shape.heads, 1, 4096},
                 {"--rows", shape.rows, 1, 1 << 16},
                 {"--threads", threads, 1, 1024},
                 {"--bf16", bf16_wanted, 0, 1}};
  for (const auto& one : numbers) {
    runtime::AddNumber(app, one.name, one.value, {one.low, one.high}, "")
        ->required();
  }
  if (const auto ended = runtime::ParseOrPrint(app, argc, argv)) return *ended;
  const bool wants_bf16 = bf16_wanted == 1;
  const model::cpu::GemmBackend* const bf16 = model::cpu::Bf16Gemm();
  if (wants_bf16 && bf16 == nullptr) return 3;
  runtime::ThreadPool pool("step", threads);
  const runtime::Stopwatch clock;
  const auto measured = model::cpu::MeasureGemm(
      wants_bf16 ? std::span(&bf16, 1) : model::cpu::AllGemmBackends(),
      model::cpu::TypicalGemmShapes(shape.width, 4 * shape.width,
                                    shape.rows * shape.columns),
      [&] { return clock.Seconds(); });
  const model::cpu::GemmMeasurement& best = model::cpu::ChooseGemm(measured);
  TrainingStep step(shape, *best.backend, pool);
  float loss = step.Run();
  std::cout << "{\"parameters\": " << step.parameters() << ", \"version\": \""
            << best.backend->name() << "\", \"flops\": " << step.flops()
            << ", \"gemm\": " << best.FlopsPerSecond() * threads << "}"
            << std::endl;
  for (int64_t steps = 0; std::cin >> steps;) {
    const runtime::Stopwatch stopwatch;
    for (int64_t i = 0; i < steps; ++i) loss = step.Run();
    const double seconds = stopwatch.Seconds();
    SKERRY_CHECK(loss > 0);
    std::cout << seconds << std::endl;
  }
  return 0;
}

}  // namespace
}  // namespace skerry

int main(int argc, char** argv) { return skerry::Main(argc, argv); }
