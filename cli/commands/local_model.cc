#include "cli/commands/local_model.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "checkpoint/starting_point.h"
#include "data/tokenizer/tokenizer_json.h"

namespace skerry::cli {
namespace {

using checkpoint::StartingPoint;

absl::StatusOr<StartingPoint> Where(std::string folder, runtime::Files& files) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  const auto has = [&](std::string_view name) {
    return files.Read(absl::StrCat(folder, "/", std::string(name))).ok();
  };
  if (has(checkpoint::kManifestFile)) {
    const size_t slash = folder.rfind('/');
    if (slash == std::string::npos) return StartingPoint{".", folder};
    return StartingPoint{slash == 0 ? "/" : folder.substr(0, slash),
                         folder.substr(slash + 1)};
  }
  if (has("config.json")) return StartingPoint{folder, ""};
  absl::StatusOr<std::string> newest = checkpoint::NewestName(folder, files);
  if (!newest.ok()) {
    return absl::NotFoundError(
        absl::StrCat(folder,
                     " is no checkpoint, holds no complete one, and has no "
                     "config.json as transformers saves it"));
  }
  return StartingPoint{folder, *std::move(newest)};
}

absl::StatusOr<std::unique_ptr<data::TextCodec>> MakeCodec(
    const std::string& json, const std::string& name) {
  absl::StatusOr<data::Tokenizer> tokenizer = data::ParseTokenizerJson(json);
  if (!tokenizer.ok()) return Annotate(tokenizer.status(), name);
  const std::optional<int32_t> end = data::UsualDocumentEnd(*tokenizer);
  return data::MakeTokenizerCodec(*std::move(tokenizer), end);
}

absl::StatusOr<std::string> ReadText(const std::string& path,
                                     const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, files.Read(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

absl::StatusOr<LocalModel> OpenLocalModel(const LocalModelArguments& arguments,
                                          runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const StartingPoint where,
                          Where(arguments.folder, files));
  SKERRY_ASSIGN_OR_RETURN(const checkpoint::Described described,
                          checkpoint::Describe(where, files));
  LocalModel model;
  SKERRY_ASSIGN_OR_RETURN(model.config,
                          model::ParseModelConfig(described.config_json));
  SKERRY_ASSIGN_OR_RETURN(
      checkpoint::ModelState state,
      checkpoint::ReadStartingPoint(where, described.sha256,
                                    described.config_json, files));
  model.parameters = std::move(state.anchor);
  const std::string folder = where.name.empty()
                                 ? where.folder
                                 : absl::StrCat(where.folder, "/", where.name);
  std::string path = absl::StrCat(folder, "/tokenizer.json");
  std::string json = std::move(state.tokenizer_json);
  if (!arguments.tokenizer.empty()) {
    path = arguments.tokenizer;
    SKERRY_ASSIGN_OR_RETURN(json, ReadText(path, files));
  } else if (json.empty()) {
    absl::StatusOr<std::string> found = ReadText(path, files);
    if (absl::IsNotFound(found.status())) return model;
    SKERRY_ASSIGN_OR_RETURN(json, std::move(found));
  }
  SKERRY_ASSIGN_OR_RETURN(model.codec, MakeCodec(json, path));
  if (model.codec->vocab_size() > model.config.vocab_size) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has ", model.codec->vocab_size(),
                     " tokens, the model ", model.config.vocab_size));
  }
  return model;
}

}  // namespace skerry::cli
