#include "model/exec/token_decoder.h"

#include <algorithm>
#include <new>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "model/cpu/activation.h"
#include "model/cpu/cached_attention.h"
#include "model/cpu/embedding.h"
#include "model/cpu/layernorm.h"
#include "model/cpu/rmsnorm.h"
#include "model/cpu/rotate.h"
#include "model/cpu/rows.h"
#include "model/cpu/swiglu.h"
#include "model/exec/attention_places.h"
#include "model/spec/rotary.h"

namespace skerry::model {
namespace {

using cpu::Transpose;

// The narrowest part of a product that is worth a thread.
constexpr size_t kColumnGrain = 64;

size_t Size(int value) { return static_cast<size_t>(value); }

// Keys and values of one token.
size_t CacheWidth(const Operator& op) {
  return Size(op.out_width / op.heads * op.kv_heads);
}

}  // namespace

int TokenDecoder::ContextMax(const Graph& graph, int positions) {
  return graph.rotary.scaling == RotaryScaling::kDynamic
             ? std::min(positions, graph.rotary.original_positions)
             : positions;
}

absl::StatusOr<std::unique_ptr<TokenDecoder>> TokenDecoder::Create(
    const Graph& graph, int positions, const Options& options,
    const cpu::GemmBackend& gemm, ParallelExecutor& executor) {
  const int context_max = ContextMax(graph, positions);
  if (options.context < 1 || options.context > context_max) {
    return absl::InvalidArgumentError(absl::StrCat("a sequence may have 1 to ",
                                                   context_max, " tokens, not ",
                                                   options.context));
  }
  if (options.slots < 1 || options.tokens_max < 1) {
    return absl::InvalidArgumentError("text needs a sequence and a token");
  }
  try {
    std::unique_ptr<TokenDecoder> decoder(
        new TokenDecoder(graph, options, gemm, executor));
    decoder->Allocate();
    return decoder;
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for the keys and values of ", options.slots,
                     " sequences of ", options.context, " tokens"));
  }
}

TokenDecoder::TokenDecoder(const Graph& graph, const Options& options,
                           const cpu::GemmBackend& gemm,
                           ParallelExecutor& executor)
    : graph_(graph), options_(options), gemm_(gemm), lanes_(executor) {}

void TokenDecoder::Allocate() {
  const size_t tokens = Size(options_.tokens_max);
  const size_t context = Size(options_.context);
  lengths_.resize(Size(options_.slots));
  positions_.resize(tokens);
  statistics_.resize(2 * tokens);
  scores_.resize(Size(lanes_.count()) * context);
  for (const Value& value : graph_.values) {
    values_.emplace_back(tokens * Size(value.width));
  }
  // Logits go to the caller.
  values_[Size(graph_.operators.rbegin()[1].output)] = {};
  caches_.resize(graph_.operators.size());
  for (size_t i = 0; i < graph_.operators.size(); ++i) {
    const Operator& op = graph_.operators[i];
    if (op.kind == OperatorKind::kAttention) {
      const size_t floats = Size(options_.slots) * context * CacheWidth(op);
      caches_[i].keys.resize(floats);
      caches_[i].values.resize(floats);
    } else if (op.kind == OperatorKind::kRotary && cosines_.empty()) {
      const int head_size = op.out_width / op.heads;
      cosines_.resize(context * Size(head_size / 2));
      sines_.resize(cosines_.size());
      FillRotaryTables(graph_.rotary, head_size, options_.context, cosines_,
                       sines_);
    }
  }
}

const float* TokenDecoder::Tensor(int tensor) const {
  if (tensor == kNone) return nullptr;
  return parameters_.data() + graph_.layout.tensor(tensor).offset;
}

size_t TokenDecoder::CacheAt(const Operator& op, int slot, int position) const {
  return (Size(slot) * Size(options_.context) + Size(position)) *
         CacheWidth(op);
}

void TokenDecoder::Append(std::span<const SlotToken> tokens,
                          std::span<const float> parameters,
                          std::span<float> logits) {
  SKERRY_CHECK(!tokens.empty() && tokens.size() <= Size(options_.tokens_max));
  tokens_ = tokens;
  parameters_ = parameters;
  for (size_t i = 0; i < tokens.size(); ++i) {
    int& length = lengths_[Size(tokens[i].slot)];
    SKERRY_CHECK(length < options_.context);
    positions_[i] = length++;
  }
  const size_t head = graph_.operators.size() - 2;
  for (size_t i = 0; i < head; ++i) Run(i);
  const Operator& op = graph_.operators[head];
  const size_t count = logits.size() / Size(op.out_width);
  SKERRY_CHECK(count <= tokens.size() &&
               count * Size(op.out_width) == logits.size());
  if (count > 0) Multiply(op, tokens.size() - count, count, logits.data());
}

void TokenDecoder::Run(size_t index) {
  const Operator& op = graph_.operators[index];
  switch (op.kind) {
    case OperatorKind::kEmbedding:
      return Embed(op);
    case OperatorKind::kLayerNorm:
    case OperatorKind::kRmsNorm:
      return Normalize(op);
    case OperatorKind::kLinear:
      return Multiply(op, 0, tokens_.size(), ValueOf(op.output));
    case OperatorKind::kRotary:
      return Rotate(op);
    case OperatorKind::kAttention:
      return Attend(index);
    case OperatorKind::kActivation:
    case OperatorKind::kSwiGlu:
    case OperatorKind::kResidualAdd:
    case OperatorKind::kDropout:
      return Combine(op);
    case OperatorKind::kCrossEntropy:
      SKERRY_CHECK(false);
  }
}

void TokenDecoder::Embed(const Operator& op) {
  for (size_t i = 0; i < tokens_.size(); ++i) {
    cpu::EmbeddingForward(1, positions_[i], options_.context, op.out_width,
                          &tokens_[i].token, Tensor(op.weight), Tensor(op.bias),
                          ValueOf(op.output) + i * Size(op.out_width));
  }
}

void TokenDecoder::Normalize(const Operator& op) {
  const int rows = static_cast<int>(tokens_.size());
  const float* in = ValueOf(op.inputs[0]);
  float* out = ValueOf(op.output);
  if (op.kind == OperatorKind::kRmsNorm) {
    cpu::RmsNormForward(rows, op.out_width, op.epsilon, in, Tensor(op.weight),
                        out, statistics_.data());
    return;
  }
  cpu::LayerNormForward(rows, op.out_width, op.epsilon, in, Tensor(op.weight),
                        Tensor(op.bias), out, statistics_.data(),
                        statistics_.data() + tokens_.size());
}

// Rows are few, so threads share the columns.
void TokenDecoder::Multiply(const Operator& op, size_t first, size_t count,
                            float* out) {
  const int rows = static_cast<int>(count);
  const bool transposed = op.weight_is_transposed;
  const float* in = ValueOf(op.inputs[0]) + first * Size(op.in_width);
  const float* weight = Tensor(op.weight);
  const float* bias = Tensor(op.bias);
  if (bias != nullptr) cpu::FillRows(rows, op.out_width, bias, out);
  lanes_.ForRange(
      Size(op.out_width), kColumnGrain, [&](int, size_t begin, size_t end) {
        gemm_.Multiply(
            {Transpose::kNo, transposed ? Transpose::kYes : Transpose::kNo,
             rows, static_cast<int>(end - begin), op.in_width},
            in, op.in_width,
            weight + begin * (transposed ? Size(op.in_width) : 1),
            transposed ? op.in_width : op.out_width,
            bias != nullptr ? 1.0f : 0.0f, out + begin, op.out_width);
      });
}

void TokenDecoder::Rotate(const Operator& op) {
  const size_t width = Size(op.out_width);
  float* out = ValueOf(op.output);
  if (op.inputs[0] != op.output) {
    const float* in = ValueOf(op.inputs[0]);
    std::copy(in, in + tokens_.size() * width, out);
  }
  for (size_t i = 0; i < tokens_.size(); ++i) {
    cpu::RotateForward({.tokens = 1,
                        .first = positions_[i],
                        .columns = options_.context,
                        .heads = op.heads,
                        .head_size = op.out_width / op.heads},
                       cosines_.data(), sines_.data(), out + i * width);
  }
}

void TokenDecoder::Attend(size_t index) {
  const Operator& op = graph_.operators[index];
  const AttentionPlaces places(graph_, op, 1);
  const cpu::AttentionShape& shape = places.shape;
  const size_t size = Size(shape.head_size);
  const size_t width = CacheWidth(op);
  Cache& cache = caches_[index];
  const float* key = ValueOf(op.inputs[op.inputs.size() / 2]) + places.key;
  const float* value = ValueOf(op.inputs.back()) + places.value;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const size_t to = CacheAt(op, tokens_[i].slot, positions_[i]);
    const size_t from = i * shape.key_stride;
    std::copy(key + from, key + from + width, cache.keys.data() + to);
    std::copy(value + from, value + from + width, cache.values.data() + to);
  }
  const float* query = ValueOf(op.inputs.front()) + places.query;
  float* out = ValueOf(op.output);
  const size_t heads = Size(op.kv_heads);
  lanes_.ForRange(
      tokens_.size() * heads, 1, [&](int lane, size_t begin, size_t end) {
        const std::span<float> scores = std::span<float>(scores_).subspan(
            Size(lane) * Size(options_.context), Size(options_.context));
        for (size_t at = begin; at < end; ++at) {
          const size_t i = at / heads;
          const size_t head = at % heads * size;
          const size_t kept = CacheAt(op, tokens_[i].slot, 0) + head;
          const size_t queries = head * Size(shape.group);
          cpu::CachedAttention({.keys = positions_[i] + 1,
                                .head_size = shape.head_size,
                                .group = shape.group,
                                .stride = width,
                                .scale = shape.scale},
                               query + i * shape.query_stride + queries,
                               cache.keys.data() + kept,
                               cache.values.data() + kept, scores,
                               out + i * shape.out_stride + queries);
        }
      });
}

void TokenDecoder::Combine(const Operator& op) {
  const size_t count = tokens_.size() * Size(op.out_width);
  const float* in = ValueOf(op.inputs[0]);
  float* out = ValueOf(op.output);
  if (op.kind == OperatorKind::kActivation) {
    cpu::ActivationForward(op.activation, count, in, out);
  } else if (op.kind == OperatorKind::kDropout) {
    std::copy(in, in + count, out);
  } else if (op.kind == OperatorKind::kSwiGlu) {
    cpu::SwiGluForward(count, in, ValueOf(op.inputs[1]), out);
  } else {
    cpu::Add(count, in, ValueOf(op.inputs[1]), out);
  }
}

}  // namespace skerry::model
