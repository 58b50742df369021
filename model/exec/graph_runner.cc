#include "model/exec/graph_runner.h"

#include <algorithm>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "hwy/aligned_allocator.h"
#include "model/cpu/cross_entropy.h"

namespace skerry::model {
namespace {

using cpu::Transpose;

// The narrowest part of a product that is worth a thread.
constexpr size_t kGemmGrain = 32;

absl::StatusOr<float*> AllocateFloats(size_t count) {
  float* buffer = static_cast<float*>(hwy::AllocateAlignedBytes(
      std::max<size_t>(1, count) * sizeof(float), nullptr, nullptr));
  if (buffer == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("model buffers: no memory for ", count, " floats; use ",
                     "fewer rows or shorter sequences in a micro-batch"));
  }
  std::fill(buffer, buffer + count, 0.0f);
  return buffer;
}

}  // namespace

void GraphRunner::FreeBuffer::operator()(float* buffer) const {
  hwy::FreeAlignedBytes(buffer, nullptr, nullptr);
}

absl::StatusOr<std::unique_ptr<GraphRunner>> GraphRunner::Create(
    const Graph& graph, int rows_max, int columns_max, Recompute recompute,
    const cpu::GemmBackend& gemm, ParallelExecutor& executor) {
  std::unique_ptr<GraphRunner> runner(
      new GraphRunner(graph, rows_max, columns_max, recompute, gemm, executor));
  SKERRY_RETURN_IF_ERROR(runner->Allocate());
  return runner;
}

GraphRunner::GraphRunner(const Graph& graph, int rows_max, int columns_max,
                         Recompute recompute, const cpu::GemmBackend& gemm,
                         ParallelExecutor& executor)
    : graph_(graph),
      plan_(PlanMemory(graph, recompute)),
      gemm_(gemm),
      lanes_(executor),
      columns_max_(columns_max),
      tokens_max_(int64_t{rows_max} * columns_max),
      buffers_(
          PlanBuffers(graph, plan_, rows_max, columns_max, lanes_.count())) {}

absl::Status GraphRunner::Allocate() {
  for (const auto& [buffer, count] :
       std::initializer_list<std::pair<Buffer*, size_t>>{
           {&values_, buffers_.values + buffers_.gradients},
           {&logits_, buffers_.logits},
           {&losses_, buffers_.losses},
           {&scratch_, buffers_.scratch},
           {&cosines_, buffers_.rotary},
           {&sines_, buffers_.rotary}}) {
    SKERRY_ASSIGN_OR_RETURN(float* floats, AllocateFloats(count));
    buffer->reset(floats);
  }
  return absl::OkStatus();
}

std::span<float> GraphRunner::Crossing(int value, size_t tokens) {
  SKERRY_CHECK(tokens <= static_cast<size_t>(tokens_max_));
  SKERRY_CHECK(absl::c_linear_search(graph_.inputs, value) ||
               absl::c_linear_search(graph_.outputs, value));
  return {ValueOf(value), tokens * graph_.values[value].width};
}

std::span<float> GraphRunner::CrossingGradient(int value, size_t tokens) {
  const size_t count = Crossing(value, tokens).size();
  return {GradientOf(value), count};
}

void GraphRunner::PrepareRotary(int columns) {
  if (buffers_.rotary == 0) return;
  // Only dynamic scaling asks how long a sequence is, and only beyond the
  // context.
  const int wanted = graph_.rotary.scaling == RotaryScaling::kDynamic
                         ? std::max(columns, graph_.rotary.original_positions)
                         : columns_max_;
  if (wanted == rotary_columns_) return;
  rotary_columns_ = wanted;
  const size_t half = buffers_.rotary / static_cast<size_t>(columns_max_);
  FillRotaryTables(graph_.rotary, static_cast<int>(2 * half), wanted,
                   {cosines_.get(), buffers_.rotary},
                   {sines_.get(), buffers_.rotary});
}

cpu::RotateShape GraphRunner::RotationOf(const Operator& op, size_t begin,
                                         size_t end) const {
  const size_t columns = static_cast<size_t>(block_.columns);
  return {.tokens = static_cast<int>(end - begin),
          .first = static_cast<int>(begin % columns),
          .columns = block_.columns,
          .heads = op.heads,
          .head_size = op.out_width / op.heads};
}

void GraphRunner::Multiply(const cpu::GemmShape& shape, const float* a, int lda,
                           const float* b, int ldb, float beta, float* c,
                           int ldc) {
  if (shape.n > shape.m) {
    lanes_.ForRange(shape.n, kGemmGrain, [&](int, size_t begin, size_t end) {
      cpu::GemmShape part = shape;
      part.n = static_cast<int>(end - begin);
      const bool transposed = shape.transpose_b == Transpose::kYes;
      gemm_.Multiply(part, a, lda, b + begin * (transposed ? ldb : 1), ldb,
                     beta, c + begin, ldc);
    });
    return;
  }
  lanes_.ForRange(shape.m, kGemmGrain, [&](int, size_t begin, size_t end) {
    cpu::GemmShape part = shape;
    part.m = static_cast<int>(end - begin);
    const bool transposed = shape.transpose_a == Transpose::kYes;
    gemm_.Multiply(part, a + begin * (transposed ? 1 : lda), lda, b, ldb, beta,
                   c + begin * ldc, ldc);
  });
}

void GraphRunner::HeadForward(size_t begin, size_t count,
                              const float* parameters, float* logits) {
  const Operator& op = Head();
  const float* in = ValueOf(op.inputs[0]) + begin * op.in_width;
  const bool transposed = op.weight_is_transposed;
  Multiply({Transpose::kNo, transposed ? Transpose::kYes : Transpose::kNo,
            static_cast<int>(count), op.out_width, op.in_width},
           in, op.in_width, Tensor(parameters, op.weight),
           transposed ? op.in_width : op.out_width, 0.0f, logits, op.out_width);
}

void GraphRunner::HeadLogits(std::span<const float> parameters,
                             std::span<float> logits) {
  HeadForward(0, block_.tokens(), parameters.data(), logits.data());
}

double GraphRunner::HeadLoss(std::span<const int32_t> targets,
                             std::span<const float> parameters) {
  const int vocab = Head().out_width;
  const size_t tokens = block_.tokens();
  for (size_t begin = 0; begin < tokens; begin += buffers_.head_tokens) {
    const size_t count = std::min(buffers_.head_tokens, tokens - begin);
    HeadForward(begin, count, parameters.data(), logits_.get());
    lanes_.ForRange(count, 1, [&](int, size_t from, size_t to) {
      cpu::CrossEntropyForward(
          static_cast<int>(to - from), vocab, targets.data() + begin + from,
          logits_.get() + from * vocab, losses_.get() + begin + from);
    });
  }
  double sum = 0;
  for (size_t t = 0; t < tokens; ++t) sum += losses_.get()[t];
  return sum;
}

double GraphRunner::HeadBackward(std::span<const int32_t> targets, float factor,
                                 std::span<const float> parameters,
                                 std::span<float> gradients) {
  const Operator& op = Head();
  SKERRY_CHECK(op.weight_is_transposed && op.bias == kNone);
  const int vocab = op.out_width;
  const int width = op.in_width;
  const size_t tokens = block_.tokens();
  const float* weight = Tensor(parameters.data(), op.weight);
  float* dweight = Tensor(gradients.data(), op.weight);
  for (size_t begin = 0; begin < tokens; begin += buffers_.head_tokens) {
    const size_t count = std::min(buffers_.head_tokens, tokens - begin);
    const int rows = static_cast<int>(count);
    HeadForward(begin, count, parameters.data(), logits_.get());
    lanes_.ForRange(count, 1, [&](int, size_t from, size_t to) {
      cpu::CrossEntropyBackward(
          static_cast<int>(to - from), vocab, targets.data() + begin + from,
          factor, logits_.get() + from * vocab, losses_.get() + begin + from);
    });
    Multiply({Transpose::kNo, Transpose::kNo, rows, width, vocab},
             logits_.get(), vocab, weight, width, 0.0f,
             GradientOf(op.inputs[0]) + begin * width, width);
    Multiply({Transpose::kYes, Transpose::kNo, vocab, width, rows},
             logits_.get(), vocab, ValueOf(op.inputs[0]) + begin * width, width,
             1.0f, dweight, width);
  }
  double sum = 0;
  for (size_t t = 0; t < tokens; ++t) sum += losses_.get()[t];
  return sum;
}

}  // namespace skerry::model
