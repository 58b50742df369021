#include "cli/commands/train_tokenizer.h"

#include <algorithm>
#include <ostream>
#include <span>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "data/prepare/documents.h"
#include "data/tokenizer/bpe_trainer.h"

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

}  // namespace skerry::cli
