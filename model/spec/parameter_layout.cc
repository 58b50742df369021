#include "model/spec/parameter_layout.h"

#include <utility>

namespace skerry::model {

int ParameterLayout::Add(std::string name, std::vector<int64_t> shape,
                         Initializer initializer) {
  ParameterTensor tensor;
  tensor.name = std::move(name);
  tensor.shape = std::move(shape);
  tensor.offset = element_count_;
  tensor.elements = 1;
  for (const int64_t extent : tensor.shape) tensor.elements *= extent;
  tensor.weight_decay = tensor.shape.size() >= 2;
  tensor.initializer = initializer;
  element_count_ += tensor.elements;
  tensors_.push_back(std::move(tensor));
  return static_cast<int>(tensors_.size()) - 1;
}

void ParameterLayout::SkipTo(int64_t multiple) {
  element_count_ = (element_count_ + multiple - 1) / multiple * multiple;
}

std::optional<int> ParameterLayout::Find(std::string_view name) const {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (tensors_[i].name == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

}  // namespace skerry::model
