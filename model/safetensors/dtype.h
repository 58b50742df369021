// model/safetensors/dtype.h
//
// The element types a weight file may hold, and how fp32 values become them
// and back.
#ifndef SKERRY_MODEL_SAFETENSORS_DTYPE_H_
#define SKERRY_MODEL_SAFETENSORS_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace skerry::model {

enum class Dtype { kF32, kBf16, kF16, kF64 };

// "F32", "BF16", "F16", "F64": as a safetensors header spells them.
std::string_view DtypeName(Dtype dtype);
std::optional<Dtype> DtypeFromName(std::string_view name);
// As the torch_dtype of a config.json spells them.
std::string_view TorchDtypeName(Dtype dtype);

size_t ElementBytes(Dtype dtype);

// Rounds to nearest, ties to even; what is too large becomes infinity, a NaN
// stays one. Little-endian. Requires: out has ElementBytes(dtype) a value.
void EncodeElements(std::span<const float> values, Dtype dtype,
                    std::span<std::byte> out);

// Exact, but for F64, which is rounded to nearest. Requires: bytes has
// ElementBytes(dtype) a value.
void DecodeElements(std::span<const std::byte> bytes, Dtype dtype,
                    std::span<float> out);

}  // namespace skerry::model

#endif  // SKERRY_MODEL_SAFETENSORS_DTYPE_H_
