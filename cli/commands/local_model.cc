#include "cli/commands/local_model.h"

#include <CLI/CLI.hpp>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/s3_location.h"
#include "base/status.h"
#include "checkpoint/end_of_text.h"
#include "checkpoint/starting_point.h"
#include "cli/threads.h"
#include "data/tokenizer_file.h"
#include "runtime/directory_blob_store.h"
#include "runtime/posix/sentencepiece_program.h"

namespace skerry::cli {
namespace {

using checkpoint::StartingPoint;

absl::StatusOr<StartingPoint> Where(std::string folder, runtime::Files& files,
                                    runtime::BlobStores& places) {
  if (IsS3Place(folder)) {
    return absl::InvalidArgumentError(
        absl::StrCat(folder,
                     " is in an object store; make a folder of it with "
                     "skerryctl checkpoint export"));
  }
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
  absl::StatusOr<std::string> newest = checkpoint::NewestName(folder, places);
  if (!newest.ok()) {
    return absl::NotFoundError(
        absl::StrCat(folder,
                     " is no checkpoint, holds no complete one, and has no "
                     "config.json as transformers saves it"));
  }
  return StartingPoint{folder, *std::move(newest)};
}

absl::StatusOr<std::string> ReadText(const std::string& path,
                                     const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, files.Read(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// A tokenizer and where it was found; none when there is none.
struct Found {
  std::string path;
  std::optional<data::TokenizerFile> file;
};

// What transformers saves may hold both kinds, and Skerry reads not every
// tokenizer.json. Errors: those of the first that is there, when none is read.
absl::StatusOr<Found> FindIn(const std::string& folder,
                             const runtime::Files& files) {
  absl::Status first;
  for (const std::string_view name :
       {data::kTokenizerJsonFile, data::kTokenizerModelFile}) {
    Found found{absl::StrCat(folder, "/", std::string(name)), {}};
    absl::StatusOr<std::string> bytes = ReadText(found.path, files);
    if (absl::IsNotFound(bytes.status())) continue;
    SKERRY_RETURN_IF_ERROR(bytes.status());
    auto file = data::TokenizerFile::Parse(*std::move(bytes));
    if (file.ok()) {
      found.file = *std::move(file);
      return found;
    }
    first.Update(Annotate(file.status(), found.path));
  }
  if (!first.ok()) return first;
  return Found{};
}

absl::StatusOr<Found> FindTokenizer(const LocalModelArguments& arguments,
                                    const std::string& folder,
                                    std::string of_checkpoint,
                                    const runtime::Files& files) {
  Found found{arguments.tokenizer, {}};
  if (found.path.empty()) {
    if (of_checkpoint.empty()) return FindIn(folder, files);
    found.path = absl::StrCat(
        folder, "/", std::string(data::TokenizerFileName(of_checkpoint)));
  } else {
    SKERRY_ASSIGN_OR_RETURN(of_checkpoint, ReadText(found.path, files));
  }
  auto file = data::TokenizerFile::Parse(std::move(of_checkpoint));
  if (!file.ok()) return Annotate(file.status(), found.path);
  found.file = *std::move(file);
  return found;
}

absl::StatusOr<std::unique_ptr<data::TextCodec>> MakeCodec(
    Found found, const std::vector<int32_t>& ends,
    const LocalModelArguments& arguments) {
  std::optional<int32_t> end = found.file->UsualDocumentEnd();
  for (const int32_t named : ends) {
    if (!end.has_value() && found.file->IsToken(named)) end = named;
  }
  auto codec = (*std::move(found.file))
                   .MakeCodec(end, runtime::SentencePieceProgram(
                                       arguments.sentencepiece_program));
  if (!codec.ok()) return Annotate(codec.status(), found.path);
  return codec;
}

}  // namespace

absl::StatusOr<LocalModel> OpenLocalModel(const LocalModelArguments& arguments,
                                          runtime::Files& files) {
  runtime::Folders places(files);
  SKERRY_ASSIGN_OR_RETURN(const StartingPoint where,
                          Where(arguments.folder, files, places));
  SKERRY_ASSIGN_OR_RETURN(const checkpoint::Described described,
                          checkpoint::Describe(where, places, files));
  if (described.table.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat(arguments.folder,
                     " is of a job with a program, whose model only the "
                     "program can compute; skerryctl checkpoint export makes "
                     "a folder of it that other tools read"));
  }
  LocalModel model;
  model.ends = checkpoint::EndOfTextTokens(described.config_json);
  SKERRY_ASSIGN_OR_RETURN(model.config,
                          model::ParseModelConfig(described.config_json));
  SKERRY_ASSIGN_OR_RETURN(
      checkpoint::ModelState state,
      checkpoint::ReadStartingPoint(where, described.sha256,
                                    described.config_json, places, files));
  model.parameters = std::move(state.anchor);
  const std::string folder = where.name.empty()
                                 ? where.folder
                                 : absl::StrCat(where.folder, "/", where.name);
  SKERRY_ASSIGN_OR_RETURN(
      Found found,
      FindTokenizer(arguments, folder, std::move(state.tokenizer), files));
  if (!found.file.has_value()) return model;
  const std::string path = found.path;
  SKERRY_ASSIGN_OR_RETURN(model.codec,
                          MakeCodec(std::move(found), model.ends, arguments));
  if (model.codec->vocab_size() > model.config.vocab_size) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, " has ", model.codec->vocab_size(), " tokens, the model ",
        model.config.vocab_size, "; name the model's own with --tokenizer"));
  }
  return model;
}

void AddModelOptions(CLI::App& app, LocalModelArguments& wanted) {
  app.add_option("FOLDER", wanted.folder,
                 "a checkpoint, a folder of them, of which the newest is "
                 "taken, or a model as transformers saves it")
      ->required();
  app.add_option("--tokenizer", wanted.tokenizer,
                 "a tokenizer.json or tokenizer.model; default: the folder's")
      ->type_name("FILE");
  AddThreads(app, wanted.threads);
}

}  // namespace skerry::cli
