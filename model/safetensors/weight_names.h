// model/safetensors/weight_names.h
//
// Finds the tensor of a model that a name in a weight file stands for. Names
// are those of transformers, possibly with the prefixes that wrappers of
// PyTorch add.
#ifndef SKERRY_MODEL_SAFETENSORS_WEIGHT_NAMES_H_
#define SKERRY_MODEL_SAFETENSORS_WEIGHT_NAMES_H_

#include <string_view>

#include "model/spec/parameter_layout.h"

namespace skerry::model {

enum class NameKind {
  kTensor,    // a tensor of the layout
  kTiedHead,  // the head of a model whose head is its token table
  kDerived,   // follows from the config: a mask, positions, rotary tables
  kUnknown,
};

struct NameMeaning {
  NameKind kind = NameKind::kUnknown;
  // kTensor: its index in the layout; kTiedHead: the index of the token table.
  int tensor = -1;
};

// The prefixes "module.", "_orig_mod.", "base_model.model." and those of FSDP
// are taken off wherever they stand, and "transformer." or "model." may be
// missing, as a bare model's names lack it.
NameMeaning MeaningOf(const ParameterLayout& layout, std::string_view name);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SAFETENSORS_WEIGHT_NAMES_H_
