// model/exec/attention_places.h
//
// Finds the queries, keys and values of an attention operator in its inputs.
// They are three values of their own, or side by side in one.
#ifndef SKERRY_MODEL_EXEC_ATTENTION_PLACES_H_
#define SKERRY_MODEL_EXEC_ATTENTION_PLACES_H_

#include <cstddef>

#include "model/cpu/attention.h"
#include "model/spec/graph.h"

namespace skerry::model {

struct AttentionPlaces {
  // `columns` tokens a sequence; `op` is a kAttention of `graph`.
  AttentionPlaces(const Graph& graph, const Operator& op, int columns) {
    const size_t size = static_cast<size_t>(op.out_width / op.heads);
    shape.columns = columns;
    shape.head_size = static_cast<int>(size);
    shape.group = op.heads / op.kv_heads;
    shape.query_stride = graph.values[op.inputs.front()].width;
    shape.key_stride = graph.values[op.inputs.back()].width;
    shape.out_stride = op.out_width;
    shape.scale = op.attention_scale;
    if (op.inputs.size() == 1) {
      key = op.heads * size;
      value = key + op.kv_heads * size;
    }
  }

  cpu::AttentionShape shape;
  // The first column of each, in the first, the middle and the last input.
  size_t query = 0;
  size_t key = 0;
  size_t value = 0;
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_EXEC_ATTENTION_PLACES_H_
