#include "checkpoint/model_folder.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/sha256.h"
#include "base/status.h"
#include "checkpoint/manifest.h"
#include "model/safetensors/weight_files.h"
#include "nlohmann/json.hpp"

namespace skerry::checkpoint {
namespace {

using Json = nlohmann::ordered_json;
using FileNames = absl::btree_set<std::string>;

constexpr char kConfigFile[] = "config.json";
constexpr char kGenerationConfigFile[] = "generation_config.json";
constexpr char kEndOfText[] = "eos_token_id";

std::string TextOf(const std::vector<std::byte>& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

absl::StatusOr<std::vector<std::byte>> ReadIn(const std::string& folder,
                                              std::string_view name,
                                              const runtime::Files& files) {
  return files.Read(absl::StrCat(folder, "/", std::string(name)));
}

// A config's dropout belongs to the run that made the weights. A job that wants
// some says so in a config of its own.
void RemoveDropout(Json& config) {
  const bool is_llama = config.contains("model_type") &&
                        config["model_type"] == std::string("llama");
  if (is_llama) {
    config.erase("attention_dropout");
    return;
  }
  for (const char* key : {"resid_pdrop", "embd_pdrop", "attn_pdrop"}) {
    config[key] = 0.0;
  }
}

// What transformers generates with comes from generation_config.json where
// there is one, and from config.json otherwise.
void TakeEndOfText(const std::string& folder, const runtime::Files& files,
                   Json& config) {
  const auto bytes = ReadIn(folder, kGenerationConfigFile, files);
  if (!bytes.ok()) return;
  const Json generation = Json::parse(TextOf(*bytes), nullptr,
                                      /*allow_exceptions=*/false);
  if (!generation.is_object() || !generation.contains(kEndOfText)) return;
  if (generation[kEndOfText].is_null()) return;
  config[kEndOfText] = generation[kEndOfText];
}

std::string ConfigOf(const std::string& folder, std::string text,
                     const runtime::Files& files) {
  Json config = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  // Whoever parses it as a model's config says what is wrong.
  if (!config.is_object()) return text;
  RemoveDropout(config);
  TakeEndOfText(folder, files, config);
  return config.dump(2, ' ', /*ensure_ascii=*/true,
                     Json::error_handler_t::replace);
}

// The names of files that look like weights of any kind; for messages.
std::string WeightFilesIn(const std::string& folder,
                          const runtime::Files& files) {
  std::vector<std::string> found;
  if (const auto names = files.List(folder); names.ok()) {
    for (const std::string& name : *names) {
      for (const std::string_view end : {".safetensors", ".bin", ".pt", ".pth",
                                         ".gguf", ".h5", ".msgpack"}) {
        if (name.ends_with(end)) found.push_back(name);
      }
    }
  }
  return found.empty() ? "no weight file" : absl::StrJoin(found, ", ");
}

absl::Status NoWeights(const std::string& folder, const runtime::Files& files) {
  return absl::NotFoundError(absl::StrCat(
      folder, " has no ", std::string(model::kSingleWeightFile), " and no ",
      std::string(model::kWeightIndexFile), ", but ",
      WeightFilesIn(folder, files),
      "; save the model with save_pretrained of transformers, which writes "
      "safetensors"));
}

absl::StatusOr<FileNames> NamedByIndex(const std::string& folder,
                                       const std::vector<std::byte>& index) {
  const auto parsed = model::ParseWeightIndex(TextOf(index));
  if (!parsed.ok()) {
    return absl::DataLossError(
        absl::StrCat(folder, "/", std::string(model::kWeightIndexFile), ": ",
                     parsed.status().message()));
  }
  FileNames names;
  for (const auto& [tensor, file] : *parsed) names.insert(file);
  return names;
}

// Reads weights and digests of a folder into `found`.
class WeightReader {
 public:
  WeightReader(const std::string& folder, const runtime::Files& files,
               ModelFolder& found)
      : folder_(folder), files_(files), found_(found) {}

  absl::Status Read(const std::vector<std::byte>& config) {
    digests_[kConfigFile] = Sha256Hex(config);
    const std::string single(model::kSingleWeightFile);
    const std::string index_file(model::kWeightIndexFile);
    const auto index = ReadIn(folder_, index_file, files_);
    if (!absl::IsNotFound(index.status())) {
      SKERRY_RETURN_IF_ERROR(index.status());
    }
    const absl::Status whole = Add(single);
    if (!absl::IsNotFound(whole)) {
      SKERRY_RETURN_IF_ERROR(whole);
      // An index of another build of the model is not followed.
      if (index.ok()) {
        const auto names = NamedByIndex(folder_, *index);
        if (names.ok() && *names == FileNames{single}) {
          digests_[index_file] = Sha256Hex(*index);
        }
      }
      return absl::OkStatus();
    }
    if (!index.ok()) return NoWeights(folder_, files_);
    digests_[index_file] = Sha256Hex(*index);
    SKERRY_ASSIGN_OR_RETURN(const FileNames names,
                            NamedByIndex(folder_, *index));
    for (const std::string& name : names) {
      const absl::Status added = Add(name);
      if (!absl::IsNotFound(added)) {
        SKERRY_RETURN_IF_ERROR(added);
        continue;
      }
      return absl::NotFoundError(absl::StrCat(
          folder_, "/", index_file, " names ", name,
          ", which is not there; the folder has ",
          WeightFilesIn(folder_, files_),
          ": fetch the missing file, or the index that belongs to these"));
    }
    return absl::OkStatus();
  }

  std::string Digest() const {
    std::string lines;
    for (const auto& [name, digest] : digests_) {
      absl::StrAppend(&lines, digest, "  ", name, "\n");
    }
    return Sha256Hex(std::as_bytes(std::span(lines)));
  }

 private:
  absl::Status Add(const std::string& name) {
    SKERRY_ASSIGN_OR_RETURN(std::vector<std::byte> bytes,
                            ReadIn(folder_, name, files_));
    digests_[name] = Sha256Hex(bytes);
    found_.weights.push_back(
        {absl::StrCat(folder_, "/", name), std::move(bytes)});
    return absl::OkStatus();
  }

  const std::string& folder_;
  const runtime::Files& files_;
  ModelFolder& found_;
  absl::btree_map<std::string, std::string> digests_;
};

}  // namespace

absl::StatusOr<ModelFolder> ReadModelFolder(const std::string& folder,
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
                     "as transformers saves a model"));
  }
  SKERRY_RETURN_IF_ERROR(config.status());
  ModelFolder found{ConfigOf(folder, TextOf(*config), files), {}, ""};
  WeightReader reader(folder, files, found);
  SKERRY_RETURN_IF_ERROR(reader.Read(*config));
  found.sha256 = reader.Digest();
  return found;
}

}  // namespace skerry::checkpoint
