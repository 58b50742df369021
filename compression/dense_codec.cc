#include "compression/dense_codec.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "compression/codec_errors.h"
#include "compression/cpu/bf16.h"
#include "compression/cpu/block4.h"
#include "compression/cpu/fp16.h"
#include "compression/cpu/int8_block.h"
#include "compression/cpu/raw_f32.h"
#include "compression/cpu/sign1.h"
#include "compression/parts.h"

namespace skerry::compression {
namespace {

// Payloads are little-endian, and kernels load them as they are.
static_assert(std::endian::native == std::endian::little);

template <typename Kernels>
bool EncodeAll(std::span<const float> values, std::byte* payload,
               Workspace& workspace) {
  return EveryPart(values.size(), *workspace.executor,
                   [&](size_t begin, size_t end) {
                     return Kernels::EncodePart(values, begin, end, payload);
                   });
}

template <>
bool EncodeAll<cpu::Sign1Whole>(std::span<const float> values,
                                std::byte* payload, Workspace& workspace) {
  if (values.empty()) return true;
  workspace.sums.resize(cpu::Sign1Whole::Blocks(values.size()));
  double* const sums = workspace.sums.data();
  if (!EveryPart(values.size(), *workspace.executor,
                 [&](size_t begin, size_t end) {
                   return cpu::Sign1Whole::EncodePart(values, begin, end,
                                                      payload, sums);
                 })) {
    return false;
  }
  cpu::Sign1Whole::WriteScale(workspace.sums, values.size(), payload);
  return true;
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
                      std::vector<std::byte>& payload,
                      Workspace& workspace) const override {
    payload.resize(Kernels::Bytes(values.size()));
    if (EncodeAll<Kernels>(values, payload.data(), workspace)) {
      return absl::OkStatus();
    }
    return NotFiniteError(values, DenseCodecName(kId));
  }

  absl::Status Decode(std::span<const std::byte> payload,
                      std::span<float> values,
                      Workspace& workspace) const override {
    return DecodeAll(payload, values, workspace, Kernels::DecodePart);
  }

  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators,
                         Workspace& workspace) const override {
    return DecodeAll(payload, accumulators, workspace, Kernels::DecodeAddPart);
  }

 private:
  template <typename DecodePart>
  static absl::Status DecodeAll(std::span<const std::byte> payload,
                                std::span<float> values, Workspace& workspace,
                                DecodePart decode_part) {
    if (payload.size() == Kernels::Bytes(values.size()) &&
        EveryPart(values.size(), *workspace.executor,
                  [&](size_t begin, size_t end) {
                    return decode_part(payload.data(), begin, end, values);
                  })) {
      return absl::OkStatus();
    }
    return NotAnEncodingError(payload.size(), values.size());
  }

  static absl::Status NotAnEncodingError(size_t bytes, size_t elements) {
    const std::string_view name = DenseCodecName(kId);
    return absl::DataLossError(absl::StrCat(
        "payload of ", bytes, " bytes is no ",
        absl::string_view(name.data(), name.size()), " encoding of ", elements,
        " elements (", Kernels::Bytes(elements),
        " bytes of codes and scales in range)"));
  }
};

}  // namespace

std::span<const NamedCodec> DenseCodecs() {
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
  static const NamedCodec entries[] = {
      {CodecId::kRawF32, "raw_f32", &raw_f32},
      {CodecId::kBf16, "bf16", &bf16},
      {CodecId::kInt8Block, "int8_block", &int8_block},
      {CodecId::kFp16, "fp16", &fp16},
      {CodecId::kSign1, "sign1", &sign1},
      {CodecId::kSign1Whole, "sign1_whole", &sign1_whole},
      {CodecId::kNf4, "nf4", &nf4},
      {CodecId::kNf4F32, "nf4_f32", &nf4_f32},
      {CodecId::kE3m0, "e3m0", &e3m0},
      {CodecId::kE3m0F32, "e3m0_f32", &e3m0_f32},
  };
  return entries;
}

std::string_view DenseCodecName(CodecId id) {
  for (const NamedCodec& entry : DenseCodecs()) {
    if (entry.id == id) return entry.name;
  }
  return "unknown";
}

absl::StatusOr<const Codec*> FindDenseCodec(CodecId id) {
  for (const NamedCodec& entry : DenseCodecs()) {
    if (entry.id == id) return entry.codec;
  }
  return absl::UnimplementedError(
      absl::StrCat("codec ", static_cast<int>(id), " is not a dense codec"));
}

}  // namespace skerry::compression
