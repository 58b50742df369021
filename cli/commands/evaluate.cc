#include "cli/commands/evaluate.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/sha256.h"
#include "base/status.h"
#include "cli/number_limits.h"
#include "cli/threads.h"
#include "cli/word_checks.h"
#include "data/manifest.h"
#include "data/prepare/input_reader.h"
#include "data/sample_source.h"
#include "data/token_shard.h"
#include "model/exec/language_model.h"
#include "nlohmann/json.hpp"
#include "runtime/command_line/number_option.h"
#include "runtime/posix/sentencepiece_program.h"
#include "runtime/posix/thread_pool.h"

namespace skerry::cli {
namespace {

// What is evaluated, and the bytes that it borrows.
struct Stream {
  std::vector<std::string> bytes;
  std::vector<data::TokenShard> shards;
  uint64_t tokens = 0;
};

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

absl::StatusOr<std::string> ReadText(const std::string& path,
                                     const runtime::Files& files) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, files.Read(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

absl::Status AddShard(std::string bytes, const std::string& name,
                      Stream& stream) {
  // The text of a std::string may lie inside it, so it has to stay in place.
  stream.bytes.push_back(std::move(bytes));
  const auto shard = data::TokenShard::Parse(BytesOf(stream.bytes.back()));
  if (!shard.ok()) return Annotate(shard.status(), name);
  stream.tokens += shard->size();
  stream.shards.push_back(*shard);
  return absl::OkStatus();
}

absl::StatusOr<Stream> OpenData(const EvaluateArguments& arguments,
                                const runtime::Files& files) {
  const auto path = [&](const std::string& file) {
    return absl::StrCat(arguments.data, "/", file);
  };
  const std::string manifest_path = path(std::string(data::kManifestFile));
  SKERRY_ASSIGN_OR_RETURN(const std::string json,
                          ReadText(manifest_path, files));
  const auto manifest = data::ParseManifest(json);
  if (!manifest.ok()) return Annotate(manifest.status(), manifest_path);
  Stream stream;
  stream.bytes.reserve(manifest->shards.size());
  for (const data::ShardEntry& entry : manifest->shards) {
    if (data::SplitName(entry.split) != arguments.split) continue;
    SKERRY_ASSIGN_OR_RETURN(std::string bytes,
                            ReadText(path(entry.file), files));
    if (Sha256Hex(BytesOf(bytes)) != entry.sha256) {
      return absl::DataLossError(
          absl::StrCat(path(entry.file),
                       " does not have the SHA-256 that the manifest names"));
    }
    SKERRY_RETURN_IF_ERROR(
        AddShard(std::move(bytes), path(entry.file), stream));
  }
  return stream;
}

absl::StatusOr<Stream> OpenText(const EvaluateArguments& arguments,
                                const LocalModel& model,
                                const runtime::Files& files) {
  if (model.codec == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(arguments.model.folder,
                     " has no tokenizer; name one with --tokenizer"));
  }
  SKERRY_ASSIGN_OR_RETURN(
      data::InputReader reader,
      data::InputReader::Open(arguments.text, arguments.text, std::nullopt,
                              files));
  if (reader.kind() == data::TextKind::kJsonLines) {
    return absl::InvalidArgumentError(absl::StrCat(
        arguments.text,
        " holds JSON lines, not one text; make a data set of "
        "it with skerryctl data prepare and name that with --data"));
  }
  SKERRY_ASSIGN_OR_RETURN(const std::string_view text, reader.ReadAll());
  std::vector<int32_t> tokens;
  SKERRY_RETURN_IF_ERROR(model.codec->AppendDocument(text, tokens));
  SKERRY_ASSIGN_OR_RETURN(
      std::string bytes,
      data::EncodeShardOf(tokens, model.codec->vocab_size()));
  Stream stream;
  stream.bytes.reserve(1);
  SKERRY_RETURN_IF_ERROR(AddShard(std::move(bytes), arguments.text, stream));
  return stream;
}

absl::StatusOr<double> MeanLoss(model::LanguageModel& model,
                                const data::SampleSource& source,
                                uint64_t samples) {
  const int columns = source.context_length();
  std::vector<int32_t> inputs(static_cast<size_t>(columns));
  std::vector<int32_t> targets(inputs.size());
  double sum = 0;
  for (uint64_t i = 0; i < samples; ++i) {
    SKERRY_RETURN_IF_ERROR(source.FillInOrder(i, 1, inputs, targets));
    sum += static_cast<double>(model.Loss({1, columns, inputs, targets}));
  }
  if (!std::isfinite(sum)) {
    return absl::DataLossError(
        "the model's output is not finite; it diverged while it trained, so "
        "evaluate an earlier checkpoint");
  }
  return sum / static_cast<double>(samples);
}

void Print(double loss, uint64_t samples, int columns, const Output& output) {
  const double perplexity = std::exp(loss);
  if (output.form == OutputForm::kJson) {
    output.out << nlohmann::ordered_json({{"loss", loss},
                                          {"perplexity", perplexity},
                                          {"samples", absl::StrCat(samples)},
                                          {"sequence_tokens", columns}})
                      .dump(1)
               << "\n";
    return;
  }
  output.out << absl::StrFormat(
      "loss %.6f nats a token, perplexity %.4f, over %d samples of %d tokens\n",
      loss, perplexity, samples, columns);
}

}  // namespace

absl::Status EvaluateModel(const EvaluateArguments& arguments,
                           runtime::Files& files, const Output& output) {
  if (arguments.data.empty() == arguments.text.empty()) {
    return absl::InvalidArgumentError("give either --data or --text");
  }
  SKERRY_ASSIGN_OR_RETURN(const int threads,
                          ThreadsOf(arguments.model.threads));
  SKERRY_ASSIGN_OR_RETURN(LocalModel local,
                          OpenLocalModel(arguments.model, files));
  SKERRY_ASSIGN_OR_RETURN(const Stream stream,
                          arguments.data.empty()
                              ? OpenText(arguments, local, files)
                              : OpenData(arguments, files));
  int columns =
      arguments.tokens == 0 ? local.config.n_positions : arguments.tokens;
  if (columns < 1 || columns > local.config.positions_max()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--tokens is ", columns, ", must be 1 to ",
                     local.config.positions_max()));
  }
  if (stream.tokens < 2) {
    return absl::InvalidArgumentError(
        absl::StrCat(arguments.text.empty() ? arguments.data : arguments.text,
                     ": has ", stream.tokens,
                     " tokens to evaluate, and a prediction needs two; name "
                     "a longer text"));
  }
  columns = static_cast<int>(
      std::min<uint64_t>(static_cast<uint64_t>(columns), stream.tokens - 1));
  SKERRY_ASSIGN_OR_RETURN(
      const data::SampleSource source,
      data::SampleSource::Create(
          stream.shards,
          {.context_length = columns, .vocab_size = local.config.vocab_size}));
  runtime::ThreadPool pool("eval", threads);
  SKERRY_ASSIGN_OR_RETURN(
      const std::unique_ptr<model::LanguageModel> model,
      model::LanguageModel::Create(
          local.config, {.rows_max = 1, .columns_max = columns}, pool));
  std::copy(local.parameters.begin(), local.parameters.end(),
            model->parameters().begin());
  local.parameters = {};
  const uint64_t samples =
      arguments.samples == 0
          ? source.sample_count()
          : std::min(arguments.samples, source.sample_count());
  SKERRY_ASSIGN_OR_RETURN(const double loss, MeanLoss(*model, source, samples));
  Print(loss, samples, columns, output);
  return absl::OkStatus();
}

namespace {

void AddOptions(CLI::App& app, EvaluateArguments& wanted) {
  AddModelOptions(app, wanted.model);
  app.add_option("--data", wanted.data,
                 "a prepared data set; default: none, as --text is given")
      ->type_name("FOLDER");
  app.add_option("--text", wanted.text,
                 "a text file; default: none, as --data is given")
      ->type_name("FILE");
  app.add_option("--split", wanted.split,
                 "of the data set, one of: train or validation")
      ->check(IsOneOf({"train", "validation"}))
      ->type_name("WORD")
      ->capture_default_str();
  runtime::AddNumber(app, "--tokens", wanted.tokens, {1, kTokensMax},
                     "tokens in a sample; default: the model's context");
  runtime::AddNumber(app, "--samples", wanted.samples, {.low = 1},
                     "only the first so many samples; default: all");
}

absl::Status Run(const EvaluateArguments& arguments, runtime::Files& files,
                 const Output& output) {
  EvaluateArguments beside = arguments;
  beside.model.sentencepiece_program = runtime::SentencePieceBeside();
  return EvaluateModel(beside, files, output);
}

}  // namespace

Command EvaluateCommand() {
  return MakeCommand<EvaluateArguments>(
      {.words = "eval",
       .about = "how well a model predicts text",
       .add_options = AddOptions,
       .run = Run});
}

}  // namespace skerry::cli
