#include "checkpoint/starting_point.h"

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/model_folder.h"
#include "checkpoint/same_model.h"
#include "checkpoint/tensor_files.h"
#include "model/spec/model_config.h"
#include "model/spec/model_graph.h"

namespace skerry::checkpoint {
namespace {

constexpr std::string_view kConfigFile = "config.json";

std::string TextOf(const std::vector<std::byte>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

absl::StatusOr<Described> DescribeCheckpoint(const StartingPoint& where,
                                             runtime::BlobStores& places) {
  SKERRY_ASSIGN_OR_RETURN(const auto blobs, places.Open(where.folder));
  const CheckpointStore store(*blobs);
  Described found;
  SKERRY_ASSIGN_OR_RETURN(found.manifest, store.Find(where.name));
  const std::string folder = absl::StrCat(where.folder, "/", where.name);
  SKERRY_ASSIGN_OR_RETURN(
      const auto manifest,
      blobs->Get(absl::StrCat(where.name, "/", std::string(kManifestFile))));
  found.sha256 = Sha256Hex(manifest);
  const bool program = found.manifest->layout_hash.has_value();
  const std::string wanted(program ? kTensorTableFile : kConfigFile);
  for (const CheckpointFile& file : found.manifest->files) {
    if (file.file != wanted) continue;
    SKERRY_ASSIGN_OR_RETURN(const auto bytes, store.Read(where.name, file));
    if (!program) {
      found.config_json = TextOf(bytes);
      return found;
    }
    absl::StatusOr<TensorTable> table = ParseTable(TextOf(bytes));
    if (!table.ok()) {
      return absl::DataLossError(
          absl::StrCat(folder, ": ", table.status().message()));
    }
    found.table = *std::move(table);
    return found;
  }
  return absl::DataLossError(absl::StrCat(folder, " has no ", wanted));
}

std::string PathOf(const StartingPoint& where) {
  return where.name.empty() ? where.folder
                            : absl::StrCat(where.folder, "/", where.name);
}

absl::Status CheckIdentity(const StartingPoint& where, const std::string& found,
                           const std::string& expected) {
  if (found == expected) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      PathOf(where), " is not what the job was submitted with: its sha256 is ",
      found, ", the job names ", expected,
      "; put the same files there on every machine"));
}

// Whether a job of the engine may start from what was found.
absl::Status CheckModel(const std::string& config_json,
                        const Described& found) {
  if (!found.table.has_value()) {
    return CheckSameModel(config_json, found.config_json);
  }
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig config,
                          model::ParseModelConfig(config_json));
  return CheckSameTensors(TableOf(model::BuildGraph(config).layout),
                          *found.table);
}

absl::StatusOr<ModelState> FlatOf(const ModelFolder& folder) {
  SKERRY_ASSIGN_OR_RETURN(const model::ModelConfig config,
                          model::ParseModelConfig(folder.config_json));
  const model::ParameterLayout layout = model::BuildGraph(config).layout;
  ModelState state{
      .config_json = folder.config_json, .anchor = {}, .outer_momentum = {}};
  state.anchor.resize(static_cast<size_t>(layout.element_count()));
  SKERRY_RETURN_IF_ERROR(ReadTensors(layout, folder.weights, state.anchor));
  return state;
}

}  // namespace

absl::StatusOr<std::string> NewestName(const std::string& folder,
                                       runtime::BlobStores& places) {
  SKERRY_ASSIGN_OR_RETURN(const auto blobs, places.Open(folder));
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Listed> all,
                          CheckpointStore(*blobs).List());
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (one->status.ok()) return one->name;
  }
  return absl::NotFoundError(
      absl::StrCat(folder, " has no complete checkpoint"));
}

absl::StatusOr<Described> Describe(const StartingPoint& where,
                                   runtime::BlobStores& places,
                                   runtime::Files& files) {
  if (!where.name.empty()) {
    absl::StatusOr<Described> found = DescribeCheckpoint(where, places);
    if (!found.ok()) return Annotate(found.status(), where.folder);
    return found;
  }
  SKERRY_ASSIGN_OR_RETURN(ModelFolder folder,
                          ReadModelFolder(where.folder, files));
  return Described{std::move(folder.sha256), std::move(folder.config_json),
                   std::nullopt, std::nullopt};
}

absl::StatusOr<ModelState> ReadStartingPoint(const StartingPoint& where,
                                             const std::string& sha256,
                                             const std::string& config_json,
                                             runtime::BlobStores& places,
                                             runtime::Files& files) {
  const bool program = config_json.empty();
  if (where.name.empty() && program) {
    return absl::InvalidArgumentError(absl::StrCat(
        PathOf(where),
        " is no checkpoint of a job, and a job with a program starts from one "
        "only; the program itself can load other weights"));
  }
  if (where.name.empty()) {
    SKERRY_ASSIGN_OR_RETURN(const ModelFolder folder,
                            ReadModelFolder(where.folder, files));
    SKERRY_RETURN_IF_ERROR(CheckIdentity(where, folder.sha256, sha256));
    SKERRY_RETURN_IF_ERROR(Annotate(
        CheckSameModel(config_json, folder.config_json), PathOf(where)));
    return FlatOf(folder);
  }
  SKERRY_ASSIGN_OR_RETURN(const Described found,
                          Describe(where, places, files));
  SKERRY_RETURN_IF_ERROR(CheckIdentity(where, found.sha256, sha256));
  if (!program) {
    SKERRY_RETURN_IF_ERROR(
        Annotate(CheckModel(config_json, found), PathOf(where)));
  }
  SKERRY_ASSIGN_OR_RETURN(const auto blobs, places.Open(where.folder));
  return ReadState(CheckpointStore(*blobs), where.name);
}

absl::Status CopyInnerState(const StartingPoint& where,
                            const std::string& sha256, const std::string& path,
                            runtime::BlobStores& places,
                            runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const Described found,
                          Describe(where, places, files));
  SKERRY_RETURN_IF_ERROR(CheckIdentity(where, found.sha256, sha256));
  const CheckpointFile* inner =
      found.manifest.has_value() ? FindInnerState(*found.manifest) : nullptr;
  if (inner == nullptr) {
    return absl::NotFoundError(
        absl::StrCat(PathOf(where), " has no inner state"));
  }
  SKERRY_ASSIGN_OR_RETURN(const auto blobs, places.Open(where.folder));
  SKERRY_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::ByteSink> copy,
                          files.Create(path));
  SKERRY_RETURN_IF_ERROR(Annotate(
      CheckpointStore(*blobs).Stream(
          where.name, *inner,
          [&copy](runtime::ByteSpan piece) { return copy->Append(piece); }),
      where.folder));
  return copy->Commit();
}

}  // namespace skerry::checkpoint
