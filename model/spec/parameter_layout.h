// model/spec/parameter_layout.h
//
// Gives every tensor of a model its place in one flat array of parameters. The
// order, names, shapes and orientation are those of a Hugging Face checkpoint,
// so export and import only copy bytes.
#ifndef SKERRY_MODEL_SPEC_PARAMETER_LAYOUT_H_
#define SKERRY_MODEL_SPEC_PARAMETER_LAYOUT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace skerry::model {

// The tensors of a program that are averaged begin at the first multiple of so
// many elements behind the others.
inline constexpr int64_t kAverageAlignment = 4096;

// How a tensor starts.
enum class Initializer {
  kNormal,          // N(0, initializer_range)
  kResidualNormal,  // N(0, initializer_range / sqrt(2 n_layer))
  kZero,
  kOne,
};

struct ParameterTensor {
  std::string name;  // as in transformers' state_dict
  std::vector<int64_t> shape;
  int64_t offset = 0;  // of the first element in the flat array
  int64_t elements = 0;
  bool weight_decay = false;  // matrices and embeddings; not biases and norms
  Initializer initializer = Initializer::kZero;
};

// Tensors follow one another without gaps, except where SkipTo() makes one.
class ParameterLayout {
 public:
  // Appends a tensor and returns its index.
  int Add(std::string name, std::vector<int64_t> shape,
          Initializer initializer);
  // Leaves elements out, so that the next tensor begins at a multiple of so
  // many. Nothing is left out where it does already.
  void SkipTo(int64_t multiple);

  const std::vector<ParameterTensor>& tensors() const { return tensors_; }
  const ParameterTensor& tensor(int index) const { return tensors_[index]; }
  // The index of the tensor called `name`.
  std::optional<int> Find(std::string_view name) const;
  int64_t element_count() const { return element_count_; }

  // The part of a flat array that tensor `index` occupies.
  template <typename T>
  std::span<T> Slice(std::span<T> flat, int index) const {
    return flat.subspan(static_cast<size_t>(tensors_[index].offset),
                        static_cast<size_t>(tensors_[index].elements));
  }

 private:
  std::vector<ParameterTensor> tensors_;
  int64_t element_count_ = 0;
};

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SPEC_PARAMETER_LAYOUT_H_
