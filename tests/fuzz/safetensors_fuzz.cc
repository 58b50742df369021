// Any bytes as a safetensors file: what is accepted can be read to the last
// element, its header survives being written and read again, and it is a
// model's weights or none.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "model/safetensors/safetensors.h"
#include "model/safetensors/weight_files.h"
#include "model/spec/model_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using skerry::model::SafetensorsView;
  const auto view =
      SafetensorsView::Parse(std::as_bytes(std::span(data, size)));
  if (!view.ok()) return 0;
  size_t bytes_read = 0;
  for (const skerry::model::TensorEntry& tensor : view->tensors()) {
    if (tensor.is_readable()) {
      std::vector<float> values(tensor.elements());
      view->Read(tensor, values);
    }
    bytes_read += view->Bytes(tensor).size();
    SKERRY_CHECK(view->Find(tensor.name) != nullptr);
  }
  auto tensors = view->tensors();
  auto again = skerry::model::SafetensorsHeader(tensors, view->metadata());
  SKERRY_CHECK(again.ok());
  SKERRY_CHECK(tensors == view->tensors());
  again->resize(again->size() + bytes_read);
  const auto reread = SafetensorsView::Parse(*again);
  SKERRY_CHECK(reread.ok());
  SKERRY_CHECK(reread->tensors() == view->tensors());
  SKERRY_CHECK(reread->metadata() == view->metadata());
  static const auto& layout = *[] {
    skerry::model::ModelConfig config;
    config.vocab_size = 2;
    config.n_positions = 1;
    config.n_embd = 2;
    config.n_layer = 1;
    config.n_head = 1;
    return new skerry::model::ParameterLayout(
        skerry::model::BuildGraph(config).layout);
  }();
  std::vector<float> flat(static_cast<size_t>(layout.element_count()));
  skerry::model::ReadWeights(layout, std::span(&*view, 1), flat).IgnoreError();
  return 0;
}
