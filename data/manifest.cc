#include "data/manifest.h"

#include <algorithm>
#include <optional>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/file_name.h"
#include "base/json_members.h"
#include "base/sha256.h"
#include "base/status.h"
#include "data/token_shard.h"

namespace skerry::data {
namespace {

constexpr std::string_view kFormat = "skerry.data/1";
constexpr int kVocabMax = 1 << 24;

absl::Status Bad(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("data manifest: ", what));
}

absl::StatusOr<ShardEntry> ParseShard(const Json& json, size_t index) {
  const auto file = StringMember(json, "file");
  const auto tokens = CountMember(json, "tokens");
  const auto sha256 = StringMember(json, "sha256");
  const auto split = StringMember(json, "split");
  if (!file || !tokens || !sha256 || !split) {
    return Bad(
        absl::StrCat("shard ", index, " needs file, tokens, sha256 and split"));
  }
  if (*split != SplitName(Split::kTrain) &&
      *split != SplitName(Split::kValidation)) {
    return Bad(absl::StrCat("shard ", index,
                            " has a split that is neither train nor "
                            "validation"));
  }
  return ShardEntry{
      *file, *tokens, *sha256,
      *split == SplitName(Split::kTrain) ? Split::kTrain : Split::kValidation};
}

}  // namespace

std::string_view SplitName(Split split) {
  return split == Split::kTrain ? "train" : "validation";
}

absl::Status ValidateManifest(const Manifest& manifest) {
  if (manifest.tokenizer.empty()) return Bad("names no tokenizer");
  if (manifest.vocab_size < 1 || manifest.vocab_size > kVocabMax) {
    return Bad(absl::StrCat("vocab_size ", manifest.vocab_size,
                            " is not in 1..", kVocabMax));
  }
  absl::btree_set<std::string> names;
  if (!manifest.tokenizer_sha256.empty()) {
    if (!IsSha256Hex(manifest.tokenizer_sha256)) {
      return Bad("has a malformed tokenizer_sha256");
    }
    if (!IsPlainFileName(manifest.tokenizer)) {
      return Bad("the tokenizer must be a file beside the manifest");
    }
    names.insert(manifest.tokenizer);
  }
  if (manifest.document_end.has_value() &&
      (*manifest.document_end < 0 ||
       *manifest.document_end >= manifest.vocab_size)) {
    return Bad("document_end is not in the vocabulary");
  }
  for (size_t i = 0; i < manifest.shards.size(); ++i) {
    const ShardEntry& shard = manifest.shards[i];
    if (!IsPlainFileName(shard.file)) {
      return Bad(
          absl::StrCat("shard ", i, " must name a file beside the manifest"));
    }
    if (!names.insert(shard.file).second) {
      return Bad(absl::StrCat("lists ", shard.file, " twice"));
    }
    if (!IsSha256Hex(shard.sha256)) {
      return Bad(absl::StrCat(shard.file, " has a malformed sha256"));
    }
    if (shard.tokens > kTokenShardTokensMax) {
      return Bad(
          absl::StrCat(shard.file, " cannot hold ", shard.tokens, " tokens"));
    }
  }
  if (TokenCount(manifest, Split::kTrain) == 0) {
    return Bad("has no training tokens");
  }
  return absl::OkStatus();
}

absl::StatusOr<Manifest> ParseManifest(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Bad("is not a JSON object");
  if (StringMember(json, "format") != std::string(kFormat)) {
    return Bad(absl::StrCat("format is not ",
                            absl::string_view(kFormat.data(), kFormat.size())));
  }
  const auto tokenizer = StringMember(json, "tokenizer");
  const auto vocab_size = CountMember(json, "vocab_size");
  const Json* shards = FindMember(json, "shards");
  if (!tokenizer || !vocab_size || shards == nullptr || !shards->is_array()) {
    return Bad("needs tokenizer, vocab_size and shards");
  }
  Manifest manifest;
  manifest.tokenizer = *tokenizer;
  manifest.vocab_size =
      static_cast<int>(std::min<uint64_t>(*vocab_size, kVocabMax + 1));
  if (FindMember(json, "tokenizer_sha256") != nullptr) {
    const auto digest = StringMember(json, "tokenizer_sha256");
    if (!digest || digest->empty()) {
      return Bad("has a malformed tokenizer_sha256");
    }
    manifest.tokenizer_sha256 = *digest;
  }
  if (FindMember(json, "document_end") != nullptr) {
    const auto token = CountMember(json, "document_end");
    if (!token) return Bad("document_end is not in the vocabulary");
    manifest.document_end =
        static_cast<int>(std::min<uint64_t>(*token, kVocabMax));
  }
  for (size_t i = 0; i < shards->size(); ++i) {
    SKERRY_ASSIGN_OR_RETURN(ShardEntry shard, ParseShard((*shards)[i], i));
    manifest.shards.push_back(std::move(shard));
  }
  SKERRY_RETURN_IF_ERROR(ValidateManifest(manifest));
  return manifest;
}

std::string SerializeManifest(const Manifest& manifest) {
  SKERRY_CHECK(ValidateManifest(manifest).ok());
  Json json;
  json["format"] = kFormat;
  json["tokenizer"] = manifest.tokenizer;
  if (!manifest.tokenizer_sha256.empty()) {
    json["tokenizer_sha256"] = manifest.tokenizer_sha256;
  }
  json["vocab_size"] = manifest.vocab_size;
  if (manifest.document_end.has_value()) {
    json["document_end"] = *manifest.document_end;
  }
  json["shards"] = Json::array();
  for (const ShardEntry& shard : manifest.shards) {
    json["shards"].push_back({{"file", shard.file},
                              {"tokens", shard.tokens},
                              {"sha256", shard.sha256},
                              {"split", SplitName(shard.split)}});
  }
  return json.dump(2, ' ', /*ensure_ascii=*/true,
                   Json::error_handler_t::replace) +
         "\n";
}

uint64_t TokenCount(const Manifest& manifest, Split split) {
  uint64_t count = 0;
  for (const ShardEntry& shard : manifest.shards) {
    if (shard.split == split) count += shard.tokens;
  }
  return count;
}

}  // namespace skerry::data
