// bench/micro/engine_bench.cc
//
// Tokens per second of a training step on one core, where its time goes, and
// what the GEMM libraries reach on its products.
//
//   engine_bench --benchmark_filter=Step
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/random.h"
#include "bench/micro/training_step.h"
#include "model/cpu/activation.h"
#include "model/cpu/attention.h"
#include "model/cpu/attention_blocks.h"
#include "model/cpu/cross_entropy.h"
#include "model/cpu/gemm.h"
#include "model/cpu/layernorm.h"

namespace skerry {
namespace {

using model::cpu::Transpose;

struct NamedShape {
  const char* name;
  StepShape shape;
};

// The demo's model, one four times as wide, and GPT-2 as published.
constexpr NamedShape kShapes[] = {{"demo-0.36M", {256, 64, 96, 3, 3, 16}},
                                  {"small-11M", {512, 256, 384, 6, 6, 4}},
                                  {"gpt2-124M", {50257, 1024, 768, 12, 12, 1}}};

std::vector<float> RandomFloats(size_t count) {
  Random random(1);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(random.Uniform() - 0.5);
  return values;
}

// The libraries, then bf16: null where the processor cannot.
const model::cpu::GemmBackend* BackendOf(benchmark::State& state,
                                         int64_t index) {
  const auto libraries = model::cpu::AllGemmBackends();
  const auto count = static_cast<int64_t>(libraries.size());
  const model::cpu::GemmBackend* const backend =
      index < count ? libraries[static_cast<size_t>(index)]
                    : model::cpu::Bf16Gemm();
  if (backend == nullptr) state.SkipWithError("no bf16 on this processor");
  return backend;
}

void Step(benchmark::State& state) {
  const NamedShape& named = kShapes[state.range(0)];
  const model::cpu::GemmBackend* const backend =
      BackendOf(state, state.range(1));
  if (backend == nullptr) return;
  InlineExecutor executor;
  TrainingStep step(named.shape, *backend, executor);
  float loss = 0;
  for (auto _ : state) loss = step.Run();
  benchmark::DoNotOptimize(loss);
  state.counters["tokens/s"] =
      benchmark::Counter(static_cast<double>(step.tokens()),
                         benchmark::Counter::kIsIterationInvariantRate);
  state.counters["FLOP/s"] = benchmark::Counter(
      step.flops(), benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(std::string(named.name) + " " + std::string(backend->name()));
}
BENCHMARK(Step)
    ->ArgsProduct({{0, 1, 2}, {0, 1, 2}})
    ->Unit(benchmark::kMillisecond);

void Gemm(benchmark::State& state) {
  const model::cpu::GemmBackend* const chosen =
      BackendOf(state, state.range(0));
  if (chosen == nullptr) return;
  const model::cpu::GemmBackend& backend = *chosen;
  const int kind = static_cast<int>(state.range(1));
  const int tokens = static_cast<int>(state.range(2));
  const int in = static_cast<int>(state.range(3));
  const int out = static_cast<int>(state.range(4));
  const size_t size = std::max({static_cast<size_t>(tokens) * in,
                                static_cast<size_t>(tokens) * out,
                                static_cast<size_t>(in) * out});
  const std::vector<float> a = RandomFloats(size);
  const std::vector<float> b = RandomFloats(size);
  std::vector<float> c(size);
  for (auto _ : state) {
    if (kind == 0) {
      backend.Multiply({Transpose::kNo, Transpose::kNo, tokens, out, in},
                       a.data(), in, b.data(), out, 1, c.data(), out);
    } else if (kind == 1) {
      backend.Multiply({Transpose::kNo, Transpose::kYes, tokens, in, out},
                       a.data(), out, b.data(), out, 0, c.data(), in);
    } else {
      backend.Multiply({Transpose::kYes, Transpose::kNo, in, out, tokens},
                       a.data(), in, b.data(), out, 1, c.data(), out);
    }
    benchmark::ClobberMemory();
  }
  const char* kinds[] = {"forward", "input gradient", "weight gradient"};
  state.SetLabel(std::string(backend.name()) + " " + kinds[kind]);
  state.counters["FLOP/s"] = benchmark::Counter(
      2.0 * tokens * in * out, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(Gemm)
    ->ArgsProduct({{0, 1, 2}, {0, 1, 2}, {1024}, {96}, {384}})
    ->ArgsProduct({{0, 1, 2}, {0, 1, 2}, {1024}, {768}, {3072}})
    ->Unit(benchmark::kMicrosecond);

// One layer's elementwise work of the demo: 1024 tokens.
void Gelu(benchmark::State& state) {
  constexpr size_t kCount = 1024 * 384;
  const auto kind = static_cast<model::Activation>(state.range(0));
  const std::vector<float> x = RandomFloats(kCount);
  std::vector<float> y(kCount);
  for (auto _ : state) {
    if (state.range(1) == 0) {
      model::cpu::ActivationForward(kind, kCount, x.data(), y.data());
    } else {
      model::cpu::ActivationBackward(kind, kCount, x.data(), x.data(),
                                     y.data());
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kCount);
  state.SetLabel(state.range(1) == 0 ? "forward" : "backward");
}
BENCHMARK(Gelu)->ArgsProduct({{0, 1}, {0, 1}})->Unit(benchmark::kMicrosecond);

void LayerNorm(benchmark::State& state) {
  constexpr int kRows = 1024;
  constexpr int kWidth = 96;
  const std::vector<float> x = RandomFloats(kRows * kWidth);
  const std::vector<float> weight(kWidth, 1.0f);
  std::vector<float> y(kRows * kWidth), dweight(kWidth), dbias(kWidth);
  std::vector<float> mean(kRows), rstd(kRows, 1.0f);
  for (auto _ : state) {
    if (state.range(0) == 0) {
      model::cpu::LayerNormForward(kRows, kWidth, 1e-5f, x.data(),
                                   weight.data(), weight.data(), y.data(),
                                   mean.data(), rstd.data());
    } else {
      model::cpu::LayerNormBackward(kRows, kWidth, x.data(), weight.data(),
                                    mean.data(), rstd.data(), x.data(), false,
                                    y.data(), dweight.data(), dbias.data());
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kRows * kWidth);
  state.SetLabel(state.range(0) == 0 ? "forward" : "backward");
}
BENCHMARK(LayerNorm)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

void CrossEntropy(benchmark::State& state) {
  const int width = static_cast<int>(state.range(0));
  const int rows = (1 << 18) / width;
  const std::vector<float> start =
      RandomFloats(static_cast<size_t>(rows) * width);
  std::vector<float> logits = start;
  const std::vector<int32_t> targets(rows, 3);
  std::vector<float> losses(rows);
  for (auto _ : state) {
    model::cpu::CrossEntropyBackward(rows, width, targets.data(), 1.0f,
                                     logits.data(), losses.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * rows * width);
}
BENCHMARK(CrossEntropy)->Arg(256)->Arg(50257)->Unit(benchmark::kMicrosecond);

// One head, by the kernel with products of its own or, block by block, by those
// of a back end.
class AttentionCase {
 public:
  AttentionCase(int columns, int head, const model::cpu::GemmBackend* gemm)
      : gemm_(gemm),
        shape_{.columns = columns,
               .head_size = head,
               .query_stride = 3 * static_cast<size_t>(head),
               .key_stride = 3 * static_cast<size_t>(head),
               .out_stride = static_cast<size_t>(head),
               .scale = 0.2f},
        inputs_(RandomFloats(static_cast<size_t>(columns) * 3 * head)),
        out_(static_cast<size_t>(columns) * head),
        sums_(columns),
        gradients_(inputs_.size()),
        scratch_(gemm == nullptr
                     ? model::cpu::AttentionScratchSize(columns, head)
                     : model::cpu::BlockAttentionScratchSize(columns, head)) {}

  void Forward() {
    const float* q = inputs_.data();
    const int head = shape_.head_size;
    if (gemm_ == nullptr) {
      model::cpu::AttentionForward(shape_, q, q + head, q + 2 * head,
                                   out_.data(), sums_.data(), scratch_);
    } else {
      model::cpu::BlockAttentionForward(*gemm_, shape_, q, q + head,
                                        q + 2 * head, out_.data(), sums_.data(),
                                        scratch_);
    }
  }

  void Backward() {
    const float* q = inputs_.data();
    const int head = shape_.head_size;
    float* const dq = gradients_.data();
    const model::cpu::AttentionGradients gradients = {dq, dq + head,
                                                      dq + 2 * head};
    if (gemm_ == nullptr) {
      model::cpu::AttentionBackward(shape_, q, q + head, q + 2 * head,
                                    out_.data(), sums_.data(), q, gradients,
                                    scratch_);
    } else {
      model::cpu::BlockAttentionBackward(*gemm_, shape_, q, q + head,
                                         q + 2 * head, out_.data(),
                                         sums_.data(), q, gradients, scratch_);
    }
  }

 private:
  const model::cpu::GemmBackend* const gemm_;
  const model::cpu::AttentionShape shape_;
  const std::vector<float> inputs_;
  std::vector<float> out_, sums_, gradients_, scratch_;
};

constexpr int64_t kOwnProducts = -1;

void Attention(benchmark::State& state) {
  const bool is_forward = state.range(0) == 0;
  const int columns = static_cast<int>(state.range(1));
  const int head = static_cast<int>(state.range(2));
  const model::cpu::GemmBackend* gemm = nullptr;
  if (state.range(3) != kOwnProducts) {
    gemm = BackendOf(state, state.range(3));
    if (gemm == nullptr) return;
  }
  AttentionCase attention(columns, head, gemm);
  for (auto _ : state) {
    is_forward ? attention.Forward() : attention.Backward();
    benchmark::ClobberMemory();
  }
  state.counters["FLOP/s"] = benchmark::Counter(
      (is_forward ? 2 : 5) * columns * (columns + 1.0) * head,
      benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(std::string(is_forward ? "forward " : "backward ") +
                 (gemm == nullptr ? "" : std::string(gemm->name())));
}
BENCHMARK(Attention)
    ->ArgsProduct({{0, 1}, {64, 256, 1024, 4096}, {32, 64}, {-1, 0, 1, 2}})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace skerry

BENCHMARK_MAIN();
