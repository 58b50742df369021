#include "trainer/service/data_directory.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"
#include "data/manifest.h"
#include "data/token_shard.h"
#include "data/tokenizer_file.h"
#include "runtime/posix/sentencepiece_program.h"

namespace skerry::trainer {
namespace {

absl::StatusOr<data::Manifest> ReadManifest(const std::string& path,
                                            const std::string& sha256) {
  SKERRY_ASSIGN_OR_RETURN(const auto file, runtime::MappedFile::Open(path));
  const std::string found = Sha256Hex(file->bytes());
  if (!sha256.empty() && found != sha256) {
    return absl::DataLossError(
        absl::StrCat(path,
                     " is not the manifest that the job was submitted "
                     "with: its SHA-256 is ",
                     found, ", not ", sha256));
  }
  const absl::StatusOr<data::Manifest> manifest = data::ParseManifest(
      std::string_view(reinterpret_cast<const char*>(file->bytes().data()),
                       file->bytes().size()));
  if (!manifest.ok()) return Annotate(manifest.status(), path);
  return manifest;
}

absl::Status AddShard(const std::string& path, const data::ShardEntry& entry,
                      ShardCheck check, DataDirectory& directory) {
  SKERRY_ASSIGN_OR_RETURN(auto file, runtime::MappedFile::Open(path));
  const absl::StatusOr<data::TokenShard> shard =
      data::TokenShard::Parse(file->bytes());
  if (!shard.ok()) return Annotate(shard.status(), path);
  if (shard->size() != entry.tokens) {
    return absl::DataLossError(absl::StrCat(path, " has ", shard->size(),
                                            " tokens, but the manifest "
                                            "says ",
                                            entry.tokens,
                                            "; prepare the data set again"));
  }
  if (check == ShardCheck::kRead && Sha256Hex(file->bytes()) != entry.sha256) {
    return absl::DataLossError(absl::StrCat(
        path,
        " does not have the SHA-256 that the manifest names; copy the data set "
        "again, or prepare it again, and submit the job anew"));
  }
  (entry.split == data::Split::kTrain ? directory.data.training
                                      : directory.data.validation)
      .push_back(*shard);
  directory.files.push_back(std::move(file));
  return absl::OkStatus();
}

// Null when the manifest names no file.
absl::StatusOr<std::unique_ptr<data::TextCodec>> OpenTokenizer(
    const std::string& path, const data::Manifest& manifest,
    const std::string& sentencepiece_program) {
  if (manifest.tokenizer_sha256.empty()) return nullptr;
  SKERRY_ASSIGN_OR_RETURN(const auto file, runtime::MappedFile::Open(path));
  if (Sha256Hex(file->bytes()) != manifest.tokenizer_sha256) {
    return absl::DataLossError(absl::StrCat(
        path,
        " does not have the SHA-256 that the manifest names; copy the "
        "data set again, or prepare it again"));
  }
  absl::StatusOr<data::TokenizerFile> tokenizer = data::TokenizerFile::Parse(
      std::string(reinterpret_cast<const char*>(file->bytes().data()),
                  file->bytes().size()));
  if (!tokenizer.ok()) return Annotate(tokenizer.status(), path);
  if (tokenizer->vocab_size() != manifest.vocab_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " has ", tokenizer->vocab_size(), " tokens, the manifest says ",
        manifest.vocab_size, "; prepare the data again with this tokenizer"));
  }
  return (*std::move(tokenizer))
      .MakeCodec(manifest.document_end,
                 runtime::SentencePieceProgram(sentencepiece_program));
}

}  // namespace

absl::StatusOr<DataDirectory> OpenDataDirectory(
    const std::string& directory, const std::string& manifest_sha256,
    ShardCheck check, const std::string& sentencepiece_program,
    const std::function<void()>& on_shard) {
  if (directory.empty()) {
    return absl::InvalidArgumentError(
        "data.path is empty; name a folder that `skerryctl data prepare` made");
  }
  const auto path = [&](std::string_view name) {
    return absl::StrCat(directory, "/",
                        absl::string_view(name.data(), name.size()));
  };
  SKERRY_ASSIGN_OR_RETURN(
      const data::Manifest manifest,
      ReadManifest(path(data::kManifestFile), manifest_sha256));
  DataDirectory result;
  result.data.tokenizer = manifest.tokenizer;
  result.data.will_read = runtime::MappedFile::WillRead;
  SKERRY_ASSIGN_OR_RETURN(
      result.data.codec,
      OpenTokenizer(path(manifest.tokenizer), manifest, sentencepiece_program));
  result.data.vocab_size = manifest.vocab_size;
  for (const data::ShardEntry& entry : manifest.shards) {
    SKERRY_RETURN_IF_ERROR(AddShard(path(entry.file), entry, check, result));
    on_shard();
  }
  return result;
}

}  // namespace skerry::trainer
