#include "compression/codec.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "compression/dense/dense_codec.h"
#include "compression/presets.h"

namespace skerry::compression {
namespace {

const NamedCodec* Find(CodecId id) {
  for (const auto codecs : {DenseCodecs(), SparsePresets()}) {
    for (const NamedCodec& entry : codecs) {
      if (entry.id == id) return &entry;
    }
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<const Codec*> FindCodec(CodecId id) {
  if (const NamedCodec* found = Find(id)) return found->codec;
  return absl::UnimplementedError(absl::StrCat("codec ", static_cast<int>(id),
                                               " is not known to this build"));
}

absl::StatusOr<CodecId> ParseCodecName(std::string_view name) {
  std::string names;
  for (const auto codecs : {DenseCodecs(), SparsePresets()}) {
    for (const NamedCodec& entry : codecs) {
      if (entry.name == name) return entry.id;
      absl::StrAppend(&names, " ",
                      absl::string_view(entry.name.data(), entry.name.size()));
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "unknown codec \"", absl::string_view(name.data(), name.size()),
      "\"; use one of", names));
}

bool IsSparse(CodecId id) { return id >= CodecId::kTopK; }

double DefaultErrorFeedback(CodecId id) {
  return id == CodecId::kSign1 || id == CodecId::kSign1Whole ||
                 id == CodecId::kLloyd2 || IsSparse(id)
             ? 1.0
             : 0.0;
}

std::string_view CodecName(CodecId id) {
  const NamedCodec* found = Find(id);
  return found != nullptr ? found->name : "unknown";
}

}  // namespace skerry::compression
