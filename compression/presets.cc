#include "compression/presets.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "compression/chunk_top_k/chunk_top_k.h"
#include "compression/threshold/threshold_top_k.h"
#include "compression/top_k/top_k.h"

namespace skerry::compression {
namespace {

constexpr int kRatioMin = 4;
constexpr int kRatioMax = 256;
constexpr size_t kChunk = 4096;

// A codec under the number of its options.
class Preset final : public Codec {
 public:
  Preset(CodecId id, std::unique_ptr<const Codec> codec)
      : id_(id), codec_(std::move(codec)) {}

  CodecId id() const override { return id_; }
  size_t MaxEncodedBytes(size_t elements) const override {
    return codec_->MaxEncodedBytes(elements);
  }
  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload,
                      Workspace& workspace) const override {
    return codec_->Encode(values, payload, workspace);
  }
  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values,
                      Workspace& workspace) const override {
    return codec_->Decode(payload, values, workspace);
  }
  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators,
                         Workspace& workspace) const override {
    return codec_->DecodeAdd(payload, accumulators, workspace);
  }

 private:
  const CodecId id_;
  const std::unique_ptr<const Codec> codec_;
};

struct Presets {
  std::vector<std::unique_ptr<const std::string>> names;
  std::vector<std::unique_ptr<const Codec>> codecs;
  std::vector<NamedCodec> entries;

  template <typename Make>
  void AddFamily(const char* family, CodecId first, Make make) {
    auto id = first;
    for (int ratio = kRatioMin; ratio <= kRatioMax; ratio *= 2) {
      absl::StatusOr<std::unique_ptr<const Codec>> made = make(ratio);
      SKERRY_CHECK(made.ok());
      names.push_back(std::make_unique<const std::string>(
          absl::StrCat(family, "/", ratio)));
      codecs.push_back(std::make_unique<const Preset>(id, *std::move(made)));
      entries.push_back({id, *names.back(), codecs.back().get()});
      id = static_cast<CodecId>(static_cast<int>(id) + 1);
    }
  }
};

SparseOptions OptionsOf(int ratio) {
  return {1.0 / ratio, CodecId::kInt8Block};
}

const Presets* MakePresets() {
  auto* presets = new Presets;
  presets->AddFamily("top_k", CodecId::kTopKIn4,
                     [](int ratio) { return MakeTopK(OptionsOf(ratio)); });
  presets->AddFamily("chunk_top_k", CodecId::kChunkTopKIn4,
                     [](int ratio) { return MakeChunkTopK(kChunk / ratio); });
  presets->AddFamily(
      "threshold_top_k", CodecId::kThresholdTopKIn4, [](int ratio) {
        return MakeThresholdTopK(
            OptionsOf(ratio),
            [](std::span<const float> values, size_t target,
               Workspace& workspace) {
              return SidcoThreshold(values, target, {}, workspace);
            },
            [](std::span<const float> values, size_t target,
               Workspace& workspace) {
              return SidcoGuess(values, target, {}, workspace);
            });
      });
  return presets;
}

}  // namespace

std::span<const NamedCodec> SparsePresets() {
  static const Presets* const presets = MakePresets();
  return presets->entries;
}

}  // namespace skerry::compression
