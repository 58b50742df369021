// model/spec/graph_builder.h
//
// Appends operators and their tensors to a graph. The model families share it.
#ifndef SKERRY_MODEL_SPEC_GRAPH_BUILDER_H_
#define SKERRY_MODEL_SPEC_GRAPH_BUILDER_H_

#include <string>

#include "model/spec/graph.h"

namespace skerry::model {

// The tensors of a linear operator.
struct LinearTensors {
  int weight = kNone;
  int bias = kNone;
  int out_width = 0;
  bool weight_is_transposed = false;
};

// Every method that takes a value returns the one it makes.
class GraphBuilder {
 public:
  ParameterLayout& layout() { return graph_.layout; }
  int Width(int value) const { return graph_.values[value].width; }

  // Appends `op`, which makes a new value of its out_width.
  int Emit(Operator op);

  // NAME.weight, as [in, out] or transposed, and if asked for NAME.bias.
  LinearTensors AddLinear(const std::string& name, int in_width, int out_width,
                          bool transposed, bool bias, Initializer initializer);
  int Linear(const std::string& name, int input, const LinearTensors& tensors);

  int Residual(const std::string& name, int stream, int branch);

  // `input` itself where the rate is 0.
  int Dropout(const std::string& name, int input, double rate);
  // Gives an attention operator its rate and a mask for each head.
  void DropProbabilities(double rate, Operator& op);

  // An operator of `kind` as wide as its input.
  static Operator SameWidth(OperatorKind kind, const std::string& name,
                            int input, int width);

  // Appends the head, whose weight [vocab, width] is `table` or, where that is
  // kNone, a tensor of its own, and the loss.
  Graph Finish(int input, int vocab, int table) &&;

 private:
  Graph graph_;
  int dropout_streams_ = 0;  // given out
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_GRAPH_BUILDER_H_
