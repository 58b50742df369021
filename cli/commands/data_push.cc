#include "cli/commands/data_push.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/s3_location.h"
#include "base/sha256.h"
#include "base/status.h"
#include "cli/places.h"
#include "data/manifest.h"
#include "runtime/posix/mapped_file.h"

namespace skerry::cli {
namespace {

using runtime::ByteSpan;
using runtime::MappedFile;

std::string_view TextOf(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Named {
  std::string file;
  std::string sha256;
};

std::vector<Named> FilesOf(const data::Manifest& manifest) {
  std::vector<Named> files;
  if (!manifest.tokenizer_sha256.empty()) {
    files.push_back({manifest.tokenizer, manifest.tokenizer_sha256});
  }
  for (const data::ShardEntry& shard : manifest.shards) {
    files.push_back({shard.file, shard.sha256});
  }
  return files;
}

// Returns the length of the file.
absl::StatusOr<uint64_t> PushFile(const std::string& folder, const Named& named,
                                  runtime::BlobStore& store) {
  const std::string path = absl::StrCat(folder, "/", named.file);
  SKERRY_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  if (Sha256Hex(file->bytes()) != named.sha256) {
    return absl::DataLossError(
        absl::StrCat(path,
                     " does not have the SHA-256 that the manifest "
                     "names; prepare the data set again"));
  }
  SKERRY_RETURN_IF_ERROR(store.Put(named.file, file->bytes()));
  return file->bytes().size();
}

// Whether the store has this manifest.
absl::StatusOr<bool> IsThere(const std::string& place, ByteSpan manifest,
                             const runtime::BlobStore& store) {
  const auto there = store.Get(std::string(data::kManifestFile));
  if (absl::IsNotFound(there.status())) return false;
  if (!there.ok()) return there.status();
  if (TextOf(*there) == TextOf(manifest)) return true;
  return absl::FailedPreconditionError(
      absl::StrCat(place, " has another data set; name another prefix"));
}

}  // namespace

absl::Status DataPush(const std::string& folder, const std::string& place,
                      runtime::BlobStore& store, std::ostream& out) {
  const std::string name(data::kManifestFile);
  const std::string path = absl::StrCat(folder, "/", name);
  SKERRY_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  const auto manifest = data::ParseManifest(TextOf(file->bytes()));
  if (!manifest.ok()) return Annotate(manifest.status(), path);
  SKERRY_ASSIGN_OR_RETURN(const bool is_there,
                          IsThere(place, file->bytes(), store));
  if (is_there) {
    out << place << " has this data set already\n";
    return absl::OkStatus();
  }
  SKERRY_RETURN_IF_ERROR(store.RemoveLeftovers());
  const std::vector<Named> files = FilesOf(*manifest);
  uint64_t bytes = file->bytes().size();
  for (const Named& named : files) {
    SKERRY_ASSIGN_OR_RETURN(const uint64_t some,
                            PushFile(folder, named, store));
    bytes += some;
  }
  SKERRY_RETURN_IF_ERROR(store.Put(name, file->bytes()));
  out << absl::StreamFormat("%s: %u files, %.1f MiB; name it in data.path\n",
                            place, files.size() + 1,
                            static_cast<double>(bytes) / (1 << 20));
  return absl::OkStatus();
}

namespace {

void AddOptions(CLI::App& app, DataPushArguments& wanted) {
  app.add_option("FOLDER", wanted.folder,
                 "a data set that data prepare or data import has made")
      ->required();
  app.add_option("PLACE", wanted.place, "s3://BUCKET/PREFIX for this data set")
      ->required()
      ->check([](const std::string& place) {
        return std::string(ParseS3Location(place).status().message());
      });
}

absl::Status Run(const DataPushArguments& wanted, runtime::Files& files,
                 const Output& output) {
  const auto places = PlacesOver(files);
  SKERRY_ASSIGN_OR_RETURN(const auto store, places->Open(wanted.place));
  return DataPush(wanted.folder, wanted.place, *store, output.out);
}

}  // namespace

Command DataPushCommand() {
  return MakeCommand<DataPushArguments>(
      {.words = "data push",
       .about = "copy a data set into an object store, for workers to fetch",
       .add_options = AddOptions,
       .run = Run});
}

}  // namespace skerry::cli
