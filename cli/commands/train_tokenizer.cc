#include "cli/commands/train_tokenizer.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "cli/data_options.h"
#include "cli/number_limits.h"
#include "data/prepare/documents.h"
#include "data/tokenizer/bpe_trainer.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

absl::StatusOr<data::SplitPattern> PatternOf(const std::string& kind) {
  if (kind == "gpt2") return data::SplitPattern::kGpt2;
  if (kind == "llama3") return data::SplitPattern::kLlama3;
  return absl::InvalidArgumentError(
      absl::StrCat("--kind must be gpt2 or llama3, not ", kind));
}

// Whether another file is in the way.
absl::Status CheckFree(const std::string& path, std::span<const std::byte> made,
                       const runtime::Files& files) {
  const auto found = files.Read(path);
  if (absl::IsNotFound(found.status())) return absl::OkStatus();
  SKERRY_RETURN_IF_ERROR(found.status());
  if (std::equal(found->begin(), found->end(), made.begin(), made.end())) {
    return absl::OkStatus();
  }
  return absl::AlreadyExistsError(
      absl::StrCat(path, " is there and differs; choose another name"));
}

}  // namespace

absl::Status TrainTokenizer(const TrainTokenizerArguments& arguments,
                            runtime::Files& files, std::ostream& out) {
  SKERRY_ASSIGN_OR_RETURN(const data::SplitPattern pattern,
                          PatternOf(arguments.kind));
  SKERRY_ASSIGN_OR_RETURN(const data::Documents documents,
                          data::ReadDocuments(arguments.inputs, arguments.lines,
                                              arguments.input_kind, files));
  data::PieceCounter pieces(pattern);
  for (const std::string& document : documents.texts) pieces.Add(document);
  if (pieces.counts().empty()) {
    return absl::InvalidArgumentError("there is no text to learn from");
  }
  SKERRY_ASSIGN_OR_RETURN(
      const data::LearnedBpe learned,
      data::TrainBpe(
          pieces, {.vocab_size = arguments.vocab_size,
                   .min_frequency = arguments.min_frequency,
                   .specials = arguments.specials.empty()
                                   ? std::vector<std::string>{"<|endoftext|>"}
                                   : arguments.specials}));
  const std::string json = data::TokenizerJson(learned);
  const auto bytes = std::as_bytes(std::span(json.data(), json.size()));
  SKERRY_RETURN_IF_ERROR(CheckFree(arguments.out, bytes, files));
  SKERRY_RETURN_IF_ERROR(files.WriteDurably(arguments.out, bytes));
  out << absl::StrFormat("%s: %d tokens, %d merges, of %d different pieces\n",
                         arguments.out, learned.tokens.size(),
                         learned.merges.size(), pieces.counts().size());
  if (documents.lines.skipped > 0) {
    out << documents.lines.skipped << " bad lines were skipped, the first: "
        << documents.lines.first_skipped << "\n";
  }
  return absl::OkStatus();
}

namespace {

void AddOptions(CLI::App& app, TrainTokenizerArguments& wanted) {
  app.add_option("INPUT", wanted.inputs,
                 "files as data prepare reads them, in this order")
      ->required();
  app.add_option("--out", wanted.out, "file to make")
      ->type_name("FILE")
      ->required();
  runtime::AddNumber(app, "--vocab-size", wanted.vocab_size, {1, kVocabMax},
                     "tokens that it learns, at most")
      ->capture_default_str();
  runtime::AddNumber(app, "--min-frequency", wanted.min_frequency, {.low = 1},
                     "how often a pair has to occur to become a token")
      ->capture_default_str();
  app.add_option("--kind", wanted.kind,
                 "whose way to cut texts in pieces, one of: gpt2 or llama3")
      ->type_name("WORD")
      ->capture_default_str();
  app.add_option("--special", wanted.specials,
                 "special token; several get the first numbers; default: "
                 "<|endoftext|>")
      ->type_name("TOKEN")
      ->allow_extra_args(false);
  AddTextOptions(app, wanted.lines, wanted.input_kind);
}

absl::Status Run(const TrainTokenizerArguments& arguments,
                 runtime::Files& files, const Output& output) {
  return TrainTokenizer(arguments, files, output.out);
}

}  // namespace

Command TrainTokenizerCommand() {
  return MakeCommand<TrainTokenizerArguments>(
      {.words = "data train-tokenizer",
       .about = "a tokenizer.json out of text files",
       .add_options = AddOptions,
       .run = Run});
}

}  // namespace skerry::cli
