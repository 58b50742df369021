// Any bytes as an inner state: what is accepted survives being written and read
// again, and an optimizer takes it or is left as it was.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "model/spec/parameter_layout.h"
#include "optimizer/inner/adamw.h"
#include "trainer/core/engine_inner.h"
#include "trainer/core/inner_state.h"

namespace {

using skerry::trainer::ParseInnerState;

constexpr uint64_t kLayoutHash = 7;

class BytesFile final : public skerry::trainer::InnerFile {
 public:
  explicit BytesFile(std::span<const std::byte> bytes) : bytes_(bytes) {}
  const std::string& path() const override { return path_; }
  absl::Status Write(std::span<const std::span<const std::byte>>) override {
    return absl::UnimplementedError("only read");
  }
  absl::StatusOr<std::span<const std::byte>> Read() override { return bytes_; }
  void OnPiece() override {}

 private:
  const std::string path_;
  const std::span<const std::byte> bytes_;
};

void Load(std::span<const std::byte> bytes) {
  skerry::model::ParameterLayout layout;
  layout.Add("w", {2, 2}, skerry::model::Initializer::kZero);
  layout.Add("b", {2}, skerry::model::Initializer::kZero);
  const std::vector<skerry::optimizer::Tensor> tensors = {{{0, 4}, true},
                                                          {{4, 6}, false}};
  skerry::optimizer::AdamW optimizer({}, tensors);
  uint64_t position = 0;
  BytesFile file(bytes);
  const auto loaded = skerry::trainer::LoadEngineInner(
      layout, kLayoutHash, file, optimizer, position);
  if (loaded.ok()) {
    SKERRY_CHECK(optimizer.steps() == loaded->steps);
    return;
  }
  SKERRY_CHECK(optimizer.steps() == 0 && position == 0);
  for (const auto& slot : optimizer.state()) {
    for (const float value : slot.values) SKERRY_CHECK(value == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  Load(bytes);
  const auto view = ParseInnerState(bytes, kLayoutHash);
  if (!view.ok()) return 0;
  auto tensors = view->tensors.tensors();
  auto again = skerry::trainer::InnerHeader(
      tensors, {kLayoutHash, view->sequence}, view->json);
  SKERRY_CHECK(again.ok());
  size_t values = 0;
  for (const auto& tensor : tensors)
    values += view->tensors.Bytes(tensor).size();
  again->resize(again->size() + values);
  const auto reread = ParseInnerState(*again, kLayoutHash);
  SKERRY_CHECK(reread.ok());
  SKERRY_CHECK(reread->json == view->json);
  SKERRY_CHECK(reread->sequence == view->sequence);
  return 0;
}
