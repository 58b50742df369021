// protocol/inner_label.h
//
// Defines the label that a saved inner state carries, and what a trainer says
// of one that it has taken.
#ifndef SKERRY_PROTOCOL_INNER_LABEL_H_
#define SKERRY_PROTOCOL_INNER_LABEL_H_

#include <cstdint>

namespace skerry::protocol {

struct InnerLabel {
  // The hash of names, shapes and order of the model's tensors.
  uint64_t layout_hash = 0;
  // The sequence that the live values stand on.
  uint64_t sequence = 0;
};

struct InnerProgress {
  uint64_t sequence = 0;
  // Inner steps that the state has behind it.
  uint64_t steps = 0;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_INNER_LABEL_H_
