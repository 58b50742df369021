#include "model/exec/buffer_plan.h"

#include <algorithm>

#include "model/cpu/attention.h"
#include "model/cpu/attention_blocks.h"

namespace skerry::model {
namespace {

// Logits held at a time: small enough to stay near the core between the
// product that makes them and the ones that use their gradient.
constexpr size_t kLogitFloatsMax = size_t{1} << 18;
constexpr size_t kHeadTokensMin = 256;

// What one thread may need beside the values.
size_t LaneScratch(const Graph& graph, int columns) {
  size_t largest = 0;
  for (const Operator& op : graph.operators) {
    size_t size = 0;
    if (op.kind == OperatorKind::kAttention) {
      const int head_size = op.out_width / op.heads;
      size = std::max(cpu::AttentionScratchSize(columns, head_size),
                      cpu::BlockAttentionScratchSize(columns, head_size));
    } else if (op.kind == OperatorKind::kLayerNorm) {
      size = 2 * static_cast<size_t>(op.out_width);
    } else if (op.kind == OperatorKind::kRmsNorm) {
      size = op.out_width;
    }
    largest = std::max(largest, size);
  }
  // Lanes do not share a cache line.
  return (largest + 31) / 32 * 32;
}

size_t RotaryTable(const Graph& graph, int columns) {
  for (const Operator& op : graph.operators) {
    if (op.kind == OperatorKind::kRotary) {
      return static_cast<size_t>(op.out_width / op.heads / 2) * columns;
    }
  }
  return 0;
}

}  // namespace

BufferPlan PlanBuffers(const Graph& graph, const MemoryPlan& plan, int rows,
                       int columns, int threads) {
  const size_t tokens = static_cast<size_t>(rows) * columns;
  BufferPlan buffers;
  buffers.values = tokens * plan.value_floats_per_token;
  buffers.gradients =
      tokens * (plan.floats_per_token - plan.value_floats_per_token);
  if (HasHead(graph)) {
    const size_t vocab = static_cast<size_t>(graph.operators.back().in_width);
    buffers.head_tokens =
        std::min(tokens, std::max(kHeadTokensMin, kLogitFloatsMax / vocab));
    buffers.logits = buffers.head_tokens * vocab;
    buffers.losses = tokens;
  }
  buffers.lane_scratch = LaneScratch(graph, columns);
  buffers.scratch = buffers.lane_scratch * threads;
  buffers.rotary = RotaryTable(graph, columns);
  return buffers;
}

}  // namespace skerry::model
