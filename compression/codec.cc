#include "compression/codec.h"

#include <array>
#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compression/cpu/bf16.h"
#include "compression/cpu/int8_block.h"
#include "compression/cpu/raw_f32.h"

namespace skerry::compression {
namespace {

// Payloads are little-endian, and kernels load them as they are.
static_assert(std::endian::native == std::endian::little);

absl::Status NotFiniteError(std::span<const float> values,
                            std::string_view codec) {
  size_t index = 0;
  while (index < values.size() && std::isfinite(values[index])) ++index;
  return absl::InvalidArgumentError(absl::StrCat(
      "value ", index, " of ", values.size(), " is ",
      index < values.size() && std::isnan(values[index]) ? "NaN" : "infinite",
      ", which ", absl::string_view(codec.data(), codec.size()),
      " cannot carry"));
}

// A codec whose size follows from the element count, from its kernels.
template <CodecId kId, typename Kernels>
class DenseCodec final : public Codec {
 public:
  CodecId id() const override { return kId; }

  size_t MaxEncodedBytes(size_t elements) const override {
    return Kernels::Bytes(elements);
  }

  absl::Status Encode(std::span<const float> values,
                      std::vector<std::byte>& payload) const override {
    payload.resize(Kernels::Bytes(values.size()));
    if (Kernels::Encode(values, payload.data())) return absl::OkStatus();
    return NotFiniteError(values, CodecName(kId));
  }

  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values) const override {
    if (payload.size() == Kernels::Bytes(values.size()) &&
        Kernels::Decode(payload.data(), values)) {
      return absl::OkStatus();
    }
    return NotAnEncodingError(payload.size(), values.size());
  }

  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators) const override {
    if (payload.size() == Kernels::Bytes(accumulators.size()) &&
        Kernels::DecodeAdd(payload.data(), accumulators)) {
      return absl::OkStatus();
    }
    return NotAnEncodingError(payload.size(), accumulators.size());
  }

 private:
  static absl::Status NotAnEncodingError(size_t bytes, size_t elements) {
    const std::string_view name = CodecName(kId);
    return absl::DataLossError(absl::StrCat(
        "payload of ", bytes, " bytes is no ",
        absl::string_view(name.data(), name.size()), " encoding of ", elements,
        " elements (", Kernels::Bytes(elements),
        " bytes of codes and scales in range)"));
  }
};

struct Entry {
  CodecId id;
  std::string_view name;
  const Codec* codec;
};

const std::array<Entry, 3>& Entries() {
  static const DenseCodec<CodecId::kRawF32, cpu::RawF32> raw_f32;
  static const DenseCodec<CodecId::kBf16, cpu::Bf16> bf16;
  static const DenseCodec<CodecId::kInt8Block, cpu::Int8Block> int8_block;
  static const std::array<Entry, 3> entries = {
      Entry{CodecId::kRawF32, "raw_f32", &raw_f32},
      Entry{CodecId::kBf16, "bf16", &bf16},
      Entry{CodecId::kInt8Block, "int8_block", &int8_block},
  };
  return entries;
}

}  // namespace

absl::StatusOr<const Codec*> FindCodec(CodecId id) {
  for (const Entry& entry : Entries()) {
    if (entry.id == id) return entry.codec;
  }
  return absl::UnimplementedError(absl::StrCat("codec ", static_cast<int>(id),
                                               " is not known to this build"));
}

absl::StatusOr<CodecId> ParseCodecName(std::string_view name) {
  for (const Entry& entry : Entries()) {
    if (entry.name == name) return entry.id;
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown codec \"", absl::string_view(name.data(), name.size()),
      "\"; use raw_f32, bf16 or int8_block"));
}

std::string_view CodecName(CodecId id) {
  for (const Entry& entry : Entries()) {
    if (entry.id == id) return entry.name;
  }
  return "unknown";
}

}  // namespace skerry::compression
