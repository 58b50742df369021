#include "cli/commands/data_import.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/data_options.h"
#include "cli/number_limits.h"
#include "data/manifest.h"
#include "data/megatron_index.h"
#include "data/numpy_file.h"
#include "data/prepare/data_set_writer.h"
#include "data/token_array.h"
#include "data/token_shard.h"
#include "data/tokenizer_file.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

constexpr std::string_view kIndexEnding = ".idx";
// Tokens checked and copied at once.
constexpr uint64_t kSliceTokens = 1 << 20;

// A file of tokens and the bytes that they are in.
struct Source {
  std::vector<std::byte> bytes;
  data::TokenArray tokens;
};

absl::StatusOr<Source> OpenMegatron(const std::string& path,
                                    const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> index_bytes,
                          files.Read(path));
  SKERRY_ASSIGN_OR_RETURN(const data::MegatronIndex index,
                          data::ParseMegatronIndex(index_bytes));
  Source source;
  SKERRY_ASSIGN_OR_RETURN(
      source.bytes,
      files.Read(absl::StrCat(path.substr(0, path.size() - kIndexEnding.size()),
                              ".bin")));
  SKERRY_ASSIGN_OR_RETURN(source.tokens,
                          data::MegatronTokens(index, source.bytes));
  return source;
}

absl::StatusOr<Source> OpenArray(const std::string& path,
                                 const runtime::Files& files) {
  Source source;
  SKERRY_ASSIGN_OR_RETURN(source.bytes, files.Read(path));
  if (data::IsNumpyFile(source.bytes)) {
    SKERRY_ASSIGN_OR_RETURN(source.tokens, data::ParseNumpyFile(source.bytes));
    return source;
  }
  SKERRY_ASSIGN_OR_RETURN(const data::TokenShard shard,
                          data::TokenShard::Parse(source.bytes));
  source.tokens = shard.array();
  return source;
}

absl::Status WithPath(const absl::Status& status, const std::string& path) {
  // An error of the disk names it already.
  return absl::IsInvalidArgument(status) ? Annotate(status, path) : status;
}

absl::StatusOr<Source> OpenSource(const std::string& path,
                                  const runtime::Files& files) {
  auto source = absl::EndsWith(path, ".idx") ? OpenMegatron(path, files)
                                             : OpenArray(path, files);
  if (!source.ok()) return WithPath(source.status(), path);
  return source;
}

struct Vocabulary {
  int size = 0;
  data::DataSetWriter::Tokenizer tokenizer;
};

absl::StatusOr<Vocabulary> OpenVocabulary(const DataImportOptions& options,
                                          const runtime::Files& files) {
  if (options.tokenizer.empty()) {
    if (!options.vocab_size.has_value()) {
      return absl::InvalidArgumentError(
          "give the --tokenizer that made the tokens, or the --vocab-size");
    }
    return Vocabulary{*options.vocab_size, {kUnknownTokenizer, "", {}}};
  }
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes,
                          files.Read(options.tokenizer));
  const auto file = data::TokenizerFile::Parse(
      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  if (!file.ok()) return Annotate(file.status(), options.tokenizer);
  return Vocabulary{
      options.vocab_size.value_or(file->vocab_size()),
      {std::string(file->name()), file->bytes(), file->UsualDocumentEnd()}};
}

absl::Status ValidateOptions(const DataImportOptions& options) {
  if (options.inputs.empty()) {
    return absl::InvalidArgumentError("name at least one file of tokens");
  }
  if (options.output_directory.empty()) {
    return absl::InvalidArgumentError("name a directory for the data set");
  }
  if (!(options.validation_fraction >= 0 &&
        options.validation_fraction <= 0.5)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--validation must be 0 to 0.5, not ", options.validation_fraction));
  }
  constexpr int kVocabMax = 1 << 24;
  if (options.vocab_size.has_value() &&
      (*options.vocab_size < 1 || *options.vocab_size > kVocabMax)) {
    return absl::InvalidArgumentError(absl::StrCat("--vocab-size must be 1 to ",
                                                   kVocabMax, ", not ",
                                                   *options.vocab_size));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> CountTokens(const std::vector<std::string>& paths,
                                     const runtime::Files& files) {
  uint64_t tokens = 0;
  for (const std::string& path : paths) {
    SKERRY_ASSIGN_OR_RETURN(const Source source, OpenSource(path, files));
    tokens += source.tokens.size();
  }
  return tokens;
}

// Tokens of several files as one stream, of which the first `training` go to
// one split and the rest to the other.
class Importer {
 public:
  Importer(uint64_t training, int vocab_size, data::DataSetWriter& writer)
      : training_left_(training), vocab_size_(vocab_size), writer_(writer) {}

  absl::Status Add(const data::TokenArray& tokens) {
    for (uint64_t at = 0; at < tokens.size();) {
      uint64_t count = std::min(kSliceTokens, tokens.size() - at);
      const bool trains = training_left_ > 0;
      if (trains) count = std::min(count, training_left_);
      slice_.clear();
      SKERRY_RETURN_IF_ERROR(
          data::AppendTokens(tokens, at, count, vocab_size_, slice_));
      at += count;
      SKERRY_RETURN_IF_ERROR(writer_.AppendAll(
          trains ? data::Split::kTrain : data::Split::kValidation, slice_));
      if (!trains) continue;
      training_left_ -= count;
      if (training_left_ == 0) {
        SKERRY_RETURN_IF_ERROR(writer_.End(data::Split::kTrain).status());
      }
    }
    return absl::OkStatus();
  }

 private:
  uint64_t training_left_;
  const int vocab_size_;
  data::DataSetWriter& writer_;
  std::vector<int32_t> slice_;
};

}  // namespace

absl::Status DataImport(const DataImportOptions& options, runtime::Files& files,
                        std::ostream& out) {
  SKERRY_RETURN_IF_ERROR(ValidateOptions(options));
  SKERRY_ASSIGN_OR_RETURN(const Vocabulary vocabulary,
                          OpenVocabulary(options, files));
  SKERRY_ASSIGN_OR_RETURN(uint64_t training,
                          CountTokens(options.inputs, files));
  std::vector<std::string> paths = options.inputs;
  if (options.validation_inputs.empty()) {
    training -= static_cast<uint64_t>(static_cast<double>(training) *
                                      options.validation_fraction);
  }
  if (training == 0) {
    return absl::InvalidArgumentError("the files have no tokens to train on");
  }
  paths.insert(paths.end(), options.validation_inputs.begin(),
               options.validation_inputs.end());
  SKERRY_ASSIGN_OR_RETURN(data::DataSetWriter writer,
                          data::DataSetWriter::Open(options.output_directory,
                                                    options.shard_tokens_max,
                                                    vocabulary.size, files));
  Importer importer(training, vocabulary.size, writer);
  for (const std::string& path : paths) {
    SKERRY_ASSIGN_OR_RETURN(const Source source, OpenSource(path, files));
    const absl::Status added = importer.Add(source.tokens);
    if (!added.ok()) return WithPath(added, path);
  }
  SKERRY_RETURN_IF_ERROR(writer.End(data::Split::kValidation).status());
  SKERRY_ASSIGN_OR_RETURN(const data::Manifest manifest,
                          writer.Finish(vocabulary.tokenizer));
  out << data::DataSetLine(options.output_directory, manifest);
  return absl::OkStatus();
}

namespace {

void AddOptions(CLI::App& app, DataImportOptions& wanted) {
  app.add_option("INPUT", wanted.inputs,
                 "llm.c .bin, NumPy .npy and Megatron .idx files, in this "
                 "order")
      ->required();
  app.add_option("--out", wanted.output_directory, "folder to make")
      ->type_name("FOLDER")
      ->required();
  app.add_option("--tokenizer", wanted.tokenizer,
                 "the file of the tokenizer that made the tokens; default: "
                 "none, and --vocab-size is needed")
      ->type_name("FILE");
  runtime::AddNumber(app, "--vocab-size", wanted.vocab_size, {1, kVocabMax},
                     "how many tokens there are; default: the tokenizer's");
  CLI::Option* files =
      app.add_option("--validation-input", wanted.validation_inputs,
                     "such a file for validation; may be repeated; "
                     "default: none, but a share of the others")
          ->type_name("FILE");
  files->allow_extra_args(false);
  AddValidation(app, wanted.validation_fraction)->excludes(files);
  AddShardTokens(app, wanted.shard_tokens_max);
}

absl::Status Run(const DataImportOptions& options, runtime::Files& files,
                 const Output& output) {
  return DataImport(options, files, output.out);
}

}  // namespace

Command DataImportCommand() {
  return MakeCommand<DataImportOptions>(
      {.words = "data import",
       .about = "tokens of llm.c, NumPy or Megatron to a data set",
       .add_options = AddOptions,
       .run = Run});
}

}  // namespace skerry::cli
