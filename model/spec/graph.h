// model/spec/graph.h
//
// A graph is a model as a list of operators in the order in which they run,
// each with its shapes, its work and what it needs of earlier tokens. The
// planner counts from this list, and the executor computes from it.
#ifndef SKERRY_MODEL_SPEC_GRAPH_H_
#define SKERRY_MODEL_SPEC_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "model/spec/model_config.h"
#include "model/spec/parameter_layout.h"
#include "model/spec/rotary.h"

namespace skerry::model {

enum class OperatorKind {
  kEmbedding,     // token and position ids -> vectors
  kLayerNorm,     // over the width of each token
  kRmsNorm,       // likewise, without a mean and a bias
  kLinear,        // y = x W (+ b)
  kRotary,        // turns the pairs of each head by the token's position
  kAttention,     // causal, self; inputs are query, key and value, or one
                  // [query | key | value]
  kActivation,    // elementwise
  kSwiGlu,        // y = silu(inputs[0]) * inputs[1]
  kResidualAdd,   // y = inputs[0] + inputs[1]
  kDropout,       // while training, a share of the elements is 0
  kCrossEntropy,  // softmax over the width, loss against a target id
};

// Which inputs one token of an operator's output depends on. A causal model can
// be cut along tokens. Attention then needs the keys and values of the tokens
// before the slice.
enum class TokenAccess { kOwnToken, kEarlierTokens };

// A value is one vector of `width` floats for every token.
struct Value {
  std::string name;
  int width = 0;
};

inline constexpr int kNone = -1;

struct Operator {
  OperatorKind kind = OperatorKind::kLinear;
  std::string name;
  std::vector<int> inputs;  // values; empty for kEmbedding, which reads ids
  int output = kNone;       // value; kNone for kCrossEntropy
  // Tensors of the layout; kNone where the operator has none. kEmbedding:
  // weight is the token table, bias the position table, if there is one.
  int weight = kNone;
  int bias = kNone;
  int in_width = 0;
  int out_width = 0;
  // kLinear: the weight lies as [out, in], as an embedding table does.
  bool weight_is_transposed = false;
  int heads = 0;              // kAttention, kRotary: of out_width
  int kv_heads = 0;           // kAttention: divides heads
  float attention_scale = 0;  // kAttention: multiplies query . key
  float epsilon = 0;          // kLayerNorm, kRmsNorm
  Activation activation = Activation::kGeluTanh;  // kActivation
  TokenAccess token_access = TokenAccess::kOwnToken;
  // kDropout, kAttention (of its probabilities): the share that is dropped, and
  // the number of the mask. Attention has a mask for each head: the number is
  // that of the first head, and those of the others follow it. The number stays
  // with the operator when the graph is cut.
  double dropout = 0;
  int dropout_stream = 0;
};

struct Graph {
  ParameterLayout layout;
  RotaryConfig rotary;  // of every kRotary
  std::vector<Value> values;
  std::vector<Operator> operators;
  // Set in a stage (graph_cut.h): the values that come from the stages before
  // it and those that go to the stages after it, in the order they are made. A
  // value that the stage only hands on is in both.
  std::vector<int> inputs;
  std::vector<int> outputs;
};

// Whether the graph ends with the head, a linear operator and the
// cross-entropy. Only the last stage of a cut model does.
bool HasHead(const Graph& graph);

// How many operators come before the head.
int BodySize(const Graph& graph);

// Whether the next operator adds the output of linear operator `index` to the
// residual stream and nothing else reads it: the two run as one.
bool AddsToResidual(const Graph& graph, int index);

// Operators [begin, end) of a graph: what one device holds.
struct Stage {
  int begin = 0;
  int end = 0;
};

// The work on `rows` sequences of `columns` tokens each. A multiply-add counts
// as two floating-point operations. Causal attention counts only the half of
// the square that is computed. Bytes are fp32.
struct Work {
  double forward_flops = 0;
  double backward_flops = 0;
  double parameter_bytes = 0;   // a tensor used twice in a stage counts once
  double activation_bytes = 0;  // kept from forward for backward
};
Work OperatorWork(const Graph& graph, const Operator& op, int rows,
                  int columns);
Work StageWork(const Graph& graph, const Stage& stage, int rows, int columns);

// Values that are there before operator `position` and read at or after it or
// by later stages: what a cut there would send, in the order they are made.
std::vector<int> ValuesCrossing(const Graph& graph, int position);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_GRAPH_H_
