#include <algorithm>

#include "base/check.h"
#include "model/cpu/dropout.h"
#include "model/exec/graph_runner.h"

namespace skerry::model {

cpu::DropoutMask GraphRunner::MaskOf(const Operator& op, size_t row,
                                     size_t stream) const {
  if (block_.samples.empty() || op.dropout == 0) return {};
  cpu::DropoutMask mask = cpu::MaskOfRate(op.dropout);
  mask.seed = block_.dropout_seed;
  mask.sample = block_.samples[row];
  mask.stream =
      static_cast<uint32_t>(op.dropout_stream) + static_cast<uint32_t>(stream);
  return mask;
}

void GraphRunner::Drop(const Operator& op, const float* in, float* out) {
  const size_t columns = static_cast<size_t>(block_.columns);
  const size_t width = static_cast<size_t>(op.out_width);
  lanes_.ForRange(block_.tokens(), 1, [&](int, size_t begin, size_t end) {
    for (size_t t = begin; t < end;) {
      const size_t stop = std::min(end, (t / columns + 1) * columns);
      const size_t first = t * width;
      if (!block_.samples.empty()) {
        cpu::Dropout(MaskOf(op, t / columns, 0), t % columns, stop - t, width,
                     in + first, out + first);
      } else if (in != out) {
        std::copy(in + first, in + stop * width, out + first);
      }
      t = stop;
    }
  });
}

void GraphRunner::DropoutForward(const Operator& op) {
  Drop(op, ValueOf(op.inputs[0]), ValueOf(op.output));
}

void GraphRunner::DropoutBackward(int index) {
  const Operator& op = graph_.operators[index];
  SKERRY_CHECK(!plan_.operators[index].accumulates);
  Drop(op, GradientOf(op.output), GradientOf(op.inputs[0]));
}

}  // namespace skerry::model
