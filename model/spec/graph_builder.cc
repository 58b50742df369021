#include "model/spec/graph_builder.h"

#include <utility>

namespace skerry::model {

int GraphBuilder::Emit(Operator op) {
  graph_.values.push_back({op.name, op.out_width});
  op.output = static_cast<int>(graph_.values.size()) - 1;
  graph_.operators.push_back(std::move(op));
  return graph_.operators.back().output;
}

LinearTensors GraphBuilder::AddLinear(const std::string& name, int in_width,
                                      int out_width, bool transposed, bool bias,
                                      Initializer initializer) {
  LinearTensors tensors;
  tensors.out_width = out_width;
  tensors.weight_is_transposed = transposed;
  std::vector<int64_t> shape = {in_width, out_width};
  if (transposed) std::swap(shape[0], shape[1]);
  tensors.weight =
      graph_.layout.Add(name + ".weight", std::move(shape), initializer);
  if (bias) {
    tensors.bias =
        graph_.layout.Add(name + ".bias", {out_width}, Initializer::kZero);
  }
  return tensors;
}

int GraphBuilder::Linear(const std::string& name, int input,
                         const LinearTensors& tensors) {
  Operator op;
  op.kind = OperatorKind::kLinear;
  op.name = name;
  op.inputs = {input};
  op.in_width = Width(input);
  op.out_width = tensors.out_width;
  op.weight = tensors.weight;
  op.bias = tensors.bias;
  op.weight_is_transposed = tensors.weight_is_transposed;
  return Emit(std::move(op));
}

int GraphBuilder::Residual(const std::string& name, int stream, int branch) {
  Operator op =
      SameWidth(OperatorKind::kResidualAdd, name, stream, Width(stream));
  op.inputs.push_back(branch);
  return Emit(std::move(op));
}

int GraphBuilder::Dropout(const std::string& name, int input, double rate) {
  if (rate == 0) return input;
  Operator op = SameWidth(OperatorKind::kDropout, name, input, Width(input));
  op.dropout = rate;
  op.dropout_stream = dropout_streams_++;
  return Emit(std::move(op));
}

void GraphBuilder::DropProbabilities(double rate, Operator& op) {
  if (rate == 0) return;
  op.dropout = rate;
  op.dropout_stream = dropout_streams_;
  dropout_streams_ += op.heads;
}

Operator GraphBuilder::SameWidth(OperatorKind kind, const std::string& name,
                                 int input, int width) {
  Operator op;
  op.kind = kind;
  op.name = name;
  op.inputs = {input};
  op.in_width = op.out_width = width;
  return op;
}

Graph GraphBuilder::Finish(int input, int vocab, int table) && {
  LinearTensors head = {table, kNone, vocab, true};
  if (table == kNone) {
    head = AddLinear("lm_head", Width(input), vocab, /*transposed=*/true,
                     /*bias=*/false, Initializer::kNormal);
  }
  const int logits = Linear("lm_head", input, head);
  Operator loss;
  loss.kind = OperatorKind::kCrossEntropy;
  loss.name = "loss";
  loss.inputs = {logits};
  loss.in_width = vocab;
  loss.out_width = 1;
  graph_.operators.push_back(std::move(loss));
  return std::move(graph_);
}

}  // namespace skerry::model
