#include "compression/codec.h"

#include <array>
#include <bit>
#include <string>

#include "absl/strings/str_cat.h"
#include "compression/codec_errors.h"
#include "compression/cpu/bf16.h"
#include "compression/cpu/block4.h"
#include "compression/cpu/fp16.h"
#include "compression/cpu/int8_block.h"
#include "compression/cpu/raw_f32.h"
#include "compression/cpu/sign1.h"

namespace skerry::compression {
namespace {

// Payloads are little-endian, and kernels load them as they are.
static_assert(std::endian::native == std::endian::little);

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

const std::array<Entry, 10>& Entries() {
  static const DenseCodec<CodecId::kRawF32, cpu::RawF32> raw_f32;
  static const DenseCodec<CodecId::kBf16, cpu::Bf16> bf16;
  static const DenseCodec<CodecId::kInt8Block, cpu::Int8Block> int8_block;
  static const DenseCodec<CodecId::kFp16, cpu::Fp16> fp16;
  static const DenseCodec<CodecId::kSign1, cpu::Sign1> sign1;
  static const DenseCodec<CodecId::kSign1Whole, cpu::Sign1Whole> sign1_whole;
  static const DenseCodec<CodecId::kNf4, cpu::Nf4> nf4;
  static const DenseCodec<CodecId::kNf4F32, cpu::Nf4F32> nf4_f32;
  static const DenseCodec<CodecId::kE3m0, cpu::E3m0> e3m0;
  static const DenseCodec<CodecId::kE3m0F32, cpu::E3m0F32> e3m0_f32;
  static const std::array<Entry, 10> entries = {
      Entry{CodecId::kRawF32, "raw_f32", &raw_f32},
      Entry{CodecId::kBf16, "bf16", &bf16},
      Entry{CodecId::kInt8Block, "int8_block", &int8_block},
      Entry{CodecId::kFp16, "fp16", &fp16},
      Entry{CodecId::kSign1, "sign1", &sign1},
      Entry{CodecId::kSign1Whole, "sign1_whole", &sign1_whole},
      Entry{CodecId::kNf4, "nf4", &nf4},
      Entry{CodecId::kNf4F32, "nf4_f32", &nf4_f32},
      Entry{CodecId::kE3m0, "e3m0", &e3m0},
      Entry{CodecId::kE3m0F32, "e3m0_f32", &e3m0_f32},
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
  std::string message = absl::StrCat(
      "unknown codec \"", absl::string_view(name.data(), name.size()),
      "\"; use one of");
  for (const Entry& entry : Entries()) {
    absl::StrAppend(&message, " ",
                    absl::string_view(entry.name.data(), entry.name.size()));
  }
  return absl::InvalidArgumentError(message);
}

double DefaultErrorFeedback(CodecId id) {
  return id == CodecId::kSign1 || id == CodecId::kSign1Whole ? 1.0 : 0.0;
}

std::string_view CodecName(CodecId id) {
  for (const Entry& entry : Entries()) {
    if (entry.id == id) return entry.name;
  }
  return "unknown";
}

}  // namespace skerry::compression
