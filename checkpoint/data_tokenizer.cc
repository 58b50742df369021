#include "checkpoint/data_tokenizer.h"

#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "data/byte_tokenizer.h"
#include "data/byte_tokenizer_json.h"
#include "data/manifest.h"

namespace skerry::checkpoint {
namespace {

std::string TextOf(const std::vector<std::byte>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

std::string DataTokenizer(const std::string& folder,
                          const std::string& manifest_sha256,
                          const runtime::Files& files) {
  const auto read = [&](const std::string& name, const std::string& sha256) {
    const auto bytes = files.Read(absl::StrCat(folder, "/", name));
    const bool is_it = bytes.ok() && Sha256Hex(*bytes) == sha256;
    return is_it ? TextOf(*bytes) : std::string();
  };
  const auto manifest = data::ParseManifest(
      read(std::string(data::kManifestFile), manifest_sha256));
  if (!manifest.ok()) return "";
  if (manifest->tokenizer == data::kByteTokenizerName) {
    return data::ByteTokenizerJson();
  }
  if (manifest->tokenizer_sha256.empty()) return "";
  return read(manifest->tokenizer, manifest->tokenizer_sha256);
}

}  // namespace skerry::checkpoint
