#include "model/safetensors/safetensors.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/status.h"
#include "model/safetensors/strict_json.h"
#include "nlohmann/json.hpp"

namespace skerry::model {
namespace {

using Json = nlohmann::json;

constexpr char kMetadataKey[] = "__metadata__";
constexpr std::string_view kLfsPointer = "version https://git-lfs";
constexpr size_t kLengthBytes = sizeof(uint64_t);
// Values start here, so that a reader may map them.
constexpr size_t kAlignment = 8;
// {tensor: {shape: [extent]}}
constexpr int kDepthMax = 3;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("safetensors: ", what));
}

absl::Status BadTensor(absl::string_view name, absl::string_view what) {
  return Bad(absl::StrCat("tensor ", name, ": ", what));
}

// Bytes of a tensor, or nothing when they do not fit 63 bits.
std::optional<uint64_t> TensorBytes(const std::vector<int64_t>& shape,
                                    Dtype dtype) {
  if (std::count(shape.begin(), shape.end(), 0) > 0) return 0;
  uint64_t bytes = ElementBytes(dtype);
  for (const int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes) ||
        bytes > INT64_MAX) {
      return std::nullopt;
    }
  }
  return bytes;
}

const Json* Find(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

absl::StatusOr<uint64_t> NonNegative(const Json* json, absl::string_view name,
                                     absl::string_view field) {
  if (json == nullptr || !json->is_number_unsigned() ||
      json->get<uint64_t>() > INT64_MAX) {
    return BadTensor(name,
                     absl::StrCat(field, " must be integers of at most 2^63"));
  }
  return json->get<uint64_t>();
}

absl::StatusOr<TensorEntry> ParseTensor(const std::string& name,
                                        const Json& json) {
  TensorEntry tensor{.name = name, .shape = {}};
  if (!json.is_object() || json.size() != 3) {
    return BadTensor(name, "needs exactly dtype, shape and data_offsets");
  }
  const Json* dtype = Find(json, "dtype");
  if (dtype == nullptr || !dtype->is_string()) {
    return BadTensor(name, "has no dtype");
  }
  const std::optional<Dtype> known = DtypeFromName(dtype->get<std::string>());
  if (known) {
    tensor.dtype = *known;
  } else {
    tensor.foreign_dtype = dtype->get<std::string>();
    if (tensor.foreign_dtype.empty()) return BadTensor(name, "has no dtype");
  }
  const Json* shape = Find(json, "shape");
  const Json* offsets = Find(json, "data_offsets");
  if (shape == nullptr || !shape->is_array() || offsets == nullptr ||
      !offsets->is_array() || offsets->size() != 2) {
    return BadTensor(name, "needs a list as shape and two data_offsets");
  }
  for (const Json& extent : *shape) {
    SKERRY_ASSIGN_OR_RETURN(const uint64_t value,
                            NonNegative(&extent, name, "extents"));
    tensor.shape.push_back(static_cast<int64_t>(value));
  }
  SKERRY_ASSIGN_OR_RETURN(tensor.begin,
                          NonNegative(&(*offsets)[0], name, "data_offsets"));
  SKERRY_ASSIGN_OR_RETURN(tensor.end,
                          NonNegative(&(*offsets)[1], name, "data_offsets"));
  // How large a foreign type's elements are is not known.
  const std::optional<uint64_t> bytes =
      tensor.is_readable() ? TensorBytes(tensor.shape, tensor.dtype)
                           : tensor.end - tensor.begin;
  if (tensor.end < tensor.begin || bytes != tensor.end - tensor.begin) {
    return BadTensor(name, "data_offsets do not span what the shape holds");
  }
  return tensor;
}

absl::StatusOr<SafetensorsMetadata> ParseMetadata(const Json& json) {
  SafetensorsMetadata metadata;
  if (!json.is_object()) return Bad("__metadata__ is not an object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      return Bad(absl::StrCat("__metadata__ ", key, " is not a string"));
    }
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

// Every byte of `size` must belong to exactly one tensor.
absl::Status CheckCover(const std::vector<TensorEntry>& tensors,
                        uint64_t size) {
  uint64_t covered = 0;
  for (const TensorEntry& tensor : tensors) {
    if (tensor.begin != covered) {
      return BadTensor(tensor.name,
                       absl::StrCat("begins at ", tensor.begin, ", not at ",
                                    covered, " where the one before ends"));
    }
    covered = tensor.end;
  }
  if (covered == size) return absl::OkStatus();
  return Bad(absl::StrCat("tensors take ", covered, " bytes, the file has ",
                          size, " after its header"));
}

}  // namespace

absl::StatusOr<std::vector<std::byte>> SafetensorsHeader(
    std::vector<TensorEntry>& tensors, const SafetensorsMetadata& metadata) {
  Json json = Json::object();
  if (!metadata.empty()) {
    Json& object = json[kMetadataKey] = Json::object();
    for (const auto& [key, value] : metadata) object[key] = value;
  }
  absl::btree_set<std::string> names;
  uint64_t offset = 0;
  for (TensorEntry& tensor : tensors) {
    if (tensor.name == kMetadataKey || !names.insert(tensor.name).second) {
      return BadTensor(tensor.name, "the name is taken");
    }
    const std::optional<uint64_t> bytes =
        tensor.is_readable() ? TensorBytes(tensor.shape, tensor.dtype)
                             : tensor.end - tensor.begin;
    if (!bytes || *bytes > INT64_MAX - offset) {
      return BadTensor(tensor.name, "the shape is impossible");
    }
    tensor.begin = offset;
    tensor.end = offset += *bytes;
    const std::string_view dtype = tensor.is_readable()
                                       ? DtypeName(tensor.dtype)
                                       : std::string_view(tensor.foreign_dtype);
    json[tensor.name] = {{"dtype", dtype},
                         {"shape", tensor.shape},
                         {"data_offsets", {tensor.begin, tensor.end}}};
  }
  SKERRY_ASSIGN_OR_RETURN(std::string text, DumpJson(json));
  text.resize((text.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  if (text.size() > kSafetensorsHeaderBytesMax) {
    return Bad(absl::StrCat("the header would take ", text.size(),
                            " bytes, at most ", kSafetensorsHeaderBytesMax));
  }
  std::vector<std::byte> header(kLengthBytes + text.size());
  const uint64_t length = text.size();
  std::memcpy(header.data(), &length, kLengthBytes);
  std::memcpy(header.data() + kLengthBytes, text.data(), text.size());
  return header;
}

absl::StatusOr<SafetensorsView> SafetensorsView::Parse(
    std::span<const std::byte> bytes) {
  uint64_t length = 0;
  const std::string_view whole(reinterpret_cast<const char*>(bytes.data()),
                               bytes.size());
  if (whole.starts_with(kLfsPointer)) {
    return Bad(
        "is the pointer of Git LFS that stands for the file; get the file "
        "itself with \"git lfs pull\"");
  }
  if (bytes.size() < kLengthBytes) return Bad("shorter than 8 bytes");
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kSafetensorsHeaderBytesMax) {
    return Bad(absl::StrCat("claims a header of ", length, " bytes, at most ",
                            kSafetensorsHeaderBytesMax));
  }
  if (length > bytes.size() - kLengthBytes) {
    return Bad(absl::StrCat("cut off: the header takes ", length,
                            " bytes, the file has ", bytes.size()));
  }
  const std::string_view text(
      reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  absl::StatusOr<Json> json = ParseStrictJson(text, kDepthMax);
  if (!json.ok()) return Bad(absl::StrCat("header: ", json.status().message()));
  if (!text.starts_with('{')) return Bad("the header does not begin with {");

  SafetensorsView view;
  view.values_ = bytes.subspan(kLengthBytes + length);
  for (const auto& [name, value] : json->items()) {
    if (name == kMetadataKey) {
      SKERRY_ASSIGN_OR_RETURN(view.metadata_, ParseMetadata(value));
      continue;
    }
    SKERRY_ASSIGN_OR_RETURN(TensorEntry tensor, ParseTensor(name, value));
    view.tensors_.push_back(std::move(tensor));
  }
  std::stable_sort(view.tensors_.begin(), view.tensors_.end(),
                   [](const TensorEntry& a, const TensorEntry& b) {
                     return std::pair(a.begin, a.end) <
                            std::pair(b.begin, b.end);
                   });
  SKERRY_RETURN_IF_ERROR(CheckCover(view.tensors_, view.values_.size()));
  for (size_t i = 0; i < view.tensors_.size(); ++i) {
    view.index_[view.tensors_[i].name] = i;
  }
  return view;
}

const TensorEntry* SafetensorsView::Find(std::string_view name) const {
  const auto it = index_.find(std::string(name));
  return it == index_.end() ? nullptr : &tensors_[it->second];
}

}  // namespace skerry::model
