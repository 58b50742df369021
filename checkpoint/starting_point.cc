#include "checkpoint/starting_point.h"

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "base/status.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/same_model.h"
#include "checkpoint/tensor_files.h"
#include "model/safetensors/weight_files.h"
#include "model/spec/model_config.h"
#include "model/spec/model_graph.h"
#include "nlohmann/json.hpp"
#include "runtime/directory_blob_store.h"

namespace skerry::checkpoint {
namespace {

constexpr char kConfigFile[] = "config.json";

std::string TextOf(const std::vector<std::byte>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Weights do not depend on it, and nothing is dropped unless the job says so in
// a config of its own.
std::string WithoutDropout(std::string config_json) {
  auto json = nlohmann::ordered_json::parse(config_json, nullptr,
                                            /*allow_exceptions=*/false);
  if (!json.is_object()) return config_json;
  const bool is_llama =
      json.contains("model_type") && json["model_type"] == std::string("llama");
  if (is_llama) {
    json.erase("attention_dropout");
  } else {
    for (const char* key : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) {
      json[key] = 0.0;
    }
  }
  return json.dump(2, ' ', /*ensure_ascii=*/true,
                   nlohmann::ordered_json::error_handler_t::replace);
}

absl::StatusOr<std::vector<std::byte>> ReadIn(const std::string& folder,
                                              std::string_view name,
                                              const runtime::Files& files) {
  return files.Read(absl::StrCat(folder, "/", std::string(name)));
}

// Files of a model as transformers saves it.
struct Folder {
  std::string config_json;
  std::vector<NamedBytes> weights;
  std::string sha256;
};

absl::StatusOr<absl::btree_set<std::string>> WeightNames(
    const std::string& folder,
    const absl::StatusOr<std::vector<std::byte>>& index) {
  if (absl::IsNotFound(index.status())) {
    return absl::btree_set<std::string>{std::string(model::kSingleWeightFile)};
  }
  SKERRY_RETURN_IF_ERROR(index.status());
  const auto parsed = model::ParseWeightIndex(TextOf(*index));
  if (!parsed.ok()) {
    return absl::DataLossError(
        absl::StrCat(folder, "/", std::string(model::kWeightIndexFile), ": ",
                     parsed.status().message()));
  }
  absl::btree_set<std::string> names;
  for (const auto& [tensor, file] : *parsed) names.insert(file);
  return names;
}

absl::StatusOr<Folder> ReadFolder(const std::string& folder,
                                  const runtime::Files& files) {
  if (ReadIn(folder, kManifestFile, files).ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder,
                     " is a checkpoint itself: give the folder that it "
                     "is in as path, and its own name as name"));
  }
  const auto config = ReadIn(folder, kConfigFile, files);
  if (absl::IsNotFound(config.status())) {
    return absl::NotFoundError(
        absl::StrCat(folder, " has no ", kConfigFile,
                     "; give the name of one of its checkpoints, or a folder "
                     "as transformers "
                     "saves a model"));
  }
  SKERRY_RETURN_IF_ERROR(config.status());
  Folder found{WithoutDropout(TextOf(*config)), {}, ""};
  const auto index = ReadIn(folder, model::kWeightIndexFile, files);
  SKERRY_ASSIGN_OR_RETURN(const absl::btree_set<std::string> names,
                          WeightNames(folder, index));
  absl::btree_map<std::string, std::string> digests;
  digests[kConfigFile] = Sha256Hex(*config);
  if (index.ok()) {
    digests[std::string(model::kWeightIndexFile)] = Sha256Hex(*index);
  }
  for (const std::string& name : names) {
    SKERRY_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                            ReadIn(folder, name, files));
    digests[name] = Sha256Hex(bytes);
    found.weights.push_back(
        {absl::StrCat(folder, "/", name), std::move(bytes)});
  }
  std::string lines;
  for (const auto& [name, digest] : digests) {
    absl::StrAppend(&lines, digest, "  ", name, "\n");
  }
  found.sha256 = Sha256Hex(std::as_bytes(std::span(lines)));
  return found;
}

absl::StatusOr<Described> DescribeCheckpoint(const StartingPoint& where,
                                             runtime::Files& files) {
  runtime::DirectoryBlobStore blobs(where.folder, files);
  const CheckpointStore store(blobs);
  Described found;
  SKERRY_ASSIGN_OR_RETURN(found.manifest, store.Find(where.name));
  const std::string folder = absl::StrCat(where.folder, "/", where.name);
  SKERRY_ASSIGN_OR_RETURN(const auto manifest,
                          ReadIn(folder, kManifestFile, files));
  found.sha256 = Sha256Hex(manifest);
  for (const CheckpointFile& file : found.manifest->files) {
    if (file.file != kConfigFile) continue;
    SKERRY_ASSIGN_OR_RETURN(const auto config, store.Read(where.name, file));
    found.config_json = TextOf(config);
    return found;
  }
  return absl::DataLossError(absl::StrCat(folder, " has no ", kConfigFile));
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

absl::StatusOr<ModelState> FlatOf(const Folder& folder) {
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
                                       runtime::Files& files) {
  runtime::DirectoryBlobStore blobs(folder, files);
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Listed> all,
                          CheckpointStore(blobs).List());
  for (auto one = all.rbegin(); one != all.rend(); ++one) {
    if (one->status.ok()) return one->name;
  }
  return absl::NotFoundError(
      absl::StrCat(folder, " has no complete checkpoint"));
}

absl::StatusOr<Described> Describe(const StartingPoint& where,
                                   runtime::Files& files) {
  if (!where.name.empty()) {
    absl::StatusOr<Described> found = DescribeCheckpoint(where, files);
    if (!found.ok()) return Annotate(found.status(), where.folder);
    return found;
  }
  SKERRY_ASSIGN_OR_RETURN(Folder folder, ReadFolder(where.folder, files));
  return Described{std::move(folder.sha256), std::move(folder.config_json),
                   std::nullopt};
}

absl::StatusOr<ModelState> ReadStartingPoint(const StartingPoint& where,
                                             const std::string& sha256,
                                             const std::string& config_json,
                                             runtime::Files& files) {
  if (where.name.empty()) {
    SKERRY_ASSIGN_OR_RETURN(const Folder folder,
                            ReadFolder(where.folder, files));
    SKERRY_RETURN_IF_ERROR(CheckIdentity(where, folder.sha256, sha256));
    SKERRY_RETURN_IF_ERROR(Annotate(
        CheckSameModel(config_json, folder.config_json), PathOf(where)));
    return FlatOf(folder);
  }
  SKERRY_ASSIGN_OR_RETURN(const Described found, Describe(where, files));
  SKERRY_RETURN_IF_ERROR(CheckIdentity(where, found.sha256, sha256));
  SKERRY_RETURN_IF_ERROR(
      Annotate(CheckSameModel(config_json, found.config_json), PathOf(where)));
  runtime::DirectoryBlobStore blobs(where.folder, files);
  return ReadState(CheckpointStore(blobs), where.name);
}

}  // namespace skerry::checkpoint
