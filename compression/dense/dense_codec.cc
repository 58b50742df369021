#include "compression/dense/dense_codec.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "compression/codec_errors.h"
#include "compression/dense/cpu/bf16.h"
#include "compression/dense/cpu/block4.h"
#include "compression/dense/cpu/fp16.h"
#include "compression/dense/cpu/int8_block.h"
#include "compression/dense/cpu/lloyd2.h"
#include "compression/dense/cpu/raw_f32.h"
#include "compression/dense/cpu/sign1.h"
#include "compression/dense/cpu/stores.h"
#include "compression/parts.h"

namespace skerry::compression {
namespace {

// Payloads are little-endian, and kernels load them as they are.
static_assert(std::endian::native == std::endian::little);

template <typename Kernels>
bool EncodeAll(std::span<const float> values, std::byte* payload,
               Workspace& workspace) {
  const cpu::Stores stores =
      cpu::StoresForCodes(Kernels::CodeBytes(values.size()));
  return EveryPart(
      values.size(), *workspace.executor, [&](size_t begin, size_t end) {
        return Kernels::EncodeBlocks(values.subspan(begin, end - begin), begin,
                                     values.size(), payload, stores);
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
                   return cpu::Sign1Whole::EncodeBlocks(
                       values.subspan(begin, end - begin), begin, values.size(),
                       payload, sums);
                 })) {
    return false;
  }
  cpu::Sign1Whole::WriteScale(workspace.sums, values.size(), payload);
  return true;
}

// From its kernels.
template <CodecId kId, typename Kernels>
class KernelCodec final : public DenseCodec {
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
    return DecodeAll(
        payload, values, workspace,
        [bytes = values.size_bytes()](const std::byte* codes, size_t begin,
                                      size_t count, std::span<float> part) {
          return DecodeParts(codes, begin, count, part, bytes);
        });
  }

  absl::Status DecodeAdd(std::span<const std::byte> payload,
                         std::span<float> accumulators,
                         Workspace& workspace) const override {
    return DecodeAll(payload, accumulators, workspace,
                     Kernels::DecodeAddBlocks);
  }

  size_t BlockElements() const override {
    return kId == CodecId::kSign1Whole ? 0 : Kernels::kElements;
  }

  bool EncodeBlocks(std::span<const float> values, size_t begin, size_t count,
                    std::byte* payload) const override {
    if constexpr (kId == CodecId::kSign1Whole) {
      return false;  // no part of it has a scale
    } else {
      return Kernels::EncodeBlocks(values, begin, count, payload);
    }
  }

  bool DecodeBlocks(const std::byte* payload, size_t begin, size_t count,
                    std::span<float> values) const override {
    return Kernels::DecodeBlocks(payload, begin, count, values);
  }

 private:
  // For a part of so many bytes of values. Who copies reads as much as it
  // writes, which leaves no room in the caches.
  static cpu::Stores StoresOf(size_t bytes, size_t part) {
    return Kernels::kCodeBits == 32 ? cpu::StoresForValues(bytes)
                                    : cpu::StoresForPart(bytes, part);
  }

  // Values from `begin` on, of so many bytes in all, each part as it is to be
  // stored.
  static bool DecodeParts(const std::byte* payload, size_t begin, size_t count,
                          std::span<float> values, size_t bytes) {
    for (size_t at = 0; at < values.size(); at += kPartElements) {
      const size_t size = std::min(kPartElements, values.size() - at);
      if (!Kernels::DecodeBlocks(
              payload, begin + at, count, values.subspan(at, size),
              StoresOf(bytes, (begin + at) / kPartElements))) {
        return false;
      }
    }
    return true;
  }

  template <typename DecodeBlocks>
  static absl::Status DecodeAll(std::span<const std::byte> payload,
                                std::span<float> values, Workspace& workspace,
                                DecodeBlocks decode_blocks) {
    if (payload.size() == Kernels::Bytes(values.size()) &&
        EveryPart(values.size(), *workspace.executor,
                  [&](size_t begin, size_t end) {
                    return decode_blocks(payload.data(), begin, values.size(),
                                         values.subspan(begin, end - begin));
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
  static const KernelCodec<CodecId::kRawF32, cpu::RawF32> raw_f32;
  static const KernelCodec<CodecId::kBf16, cpu::Bf16> bf16;
  static const KernelCodec<CodecId::kInt8Block, cpu::Int8Block> int8_block;
  static const KernelCodec<CodecId::kFp16, cpu::Fp16> fp16;
  static const KernelCodec<CodecId::kSign1, cpu::Sign1> sign1;
  static const KernelCodec<CodecId::kSign1Whole, cpu::Sign1Whole> sign1_whole;
  static const KernelCodec<CodecId::kNf4, cpu::Nf4> nf4;
  static const KernelCodec<CodecId::kNf4F32, cpu::Nf4F32> nf4_f32;
  static const KernelCodec<CodecId::kE3m0, cpu::E3m0> e3m0;
  static const KernelCodec<CodecId::kE3m0F32, cpu::E3m0F32> e3m0_f32;
  static const KernelCodec<CodecId::kLloyd2, cpu::Lloyd2> lloyd2;
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
      {CodecId::kLloyd2, "lloyd2", &lloyd2},
  };
  return entries;
}

std::string_view DenseCodecName(CodecId id) {
  for (const NamedCodec& entry : DenseCodecs()) {
    if (entry.id == id) return entry.name;
  }
  return "unknown";
}

absl::StatusOr<const DenseCodec*> FindDenseCodec(CodecId id) {
  for (const NamedCodec& entry : DenseCodecs()) {
    // All of them are.
    if (entry.id == id) return static_cast<const DenseCodec*>(entry.codec);
  }
  return absl::UnimplementedError(
      absl::StrCat("codec ", static_cast<int>(id), " is not a dense codec"));
}

}  // namespace skerry::compression
