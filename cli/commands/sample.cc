#include "cli/commands/sample.h"

#include <CLI/CLI.hpp>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/number_limits.h"
#include "cli/threads.h"
#include "model/cpu/gemm.h"
#include "model/spec/model_graph.h"
#include "nlohmann/json.hpp"
#include "runtime/command_line/number_option.h"
#include "runtime/posix/sentencepiece_program.h"
#include "runtime/posix/thread_pool.h"
#include "trainer/core/text_generator.h"

namespace skerry::cli {
namespace {

using trainer::GeneratedText;

const char* EndName(trainer::TextEnd end) {
  switch (end) {
    case trainer::TextEnd::kLength:
      return "length";
    case trainer::TextEnd::kStop:
      return "stop";
    case trainer::TextEnd::kDocument:
      return "document";
  }
  return "";
}

void PrintJson(const std::vector<std::string>& prompts,
               const std::vector<GeneratedText>& texts, std::ostream& out) {
  nlohmann::ordered_json json;
  json["texts"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < texts.size(); ++i) {
    json["texts"].push_back({{"prompt", prompts[i]},
                             {"text", texts[i].text},
                             {"tokens", absl::StrCat(texts[i].tokens)},
                             {"end", EndName(texts[i].end)}});
  }
  // A text may end inside a character.
  out << json.dump(1, ' ', /*ensure_ascii=*/false,
                   nlohmann::ordered_json::error_handler_t::replace)
      << "\n";
}

}  // namespace

absl::Status SampleTexts(const SampleArguments& arguments,
                         runtime::Files& files, const Output& output) {
  trainer::TextOptions options = {
      .tokens = arguments.tokens,
      .sampling = {.temperature = arguments.temperature,
                   .top_k = arguments.top_k,
                   .top_p = arguments.top_p},
      .seed = arguments.seed,
      .stops = arguments.stops};
  SKERRY_RETURN_IF_ERROR(trainer::ValidateTextOptions(options));
  SKERRY_ASSIGN_OR_RETURN(const int threads,
                          ThreadsOf(arguments.model.threads));
  SKERRY_ASSIGN_OR_RETURN(const LocalModel model,
                          OpenLocalModel(arguments.model, files));
  if (model.codec == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(arguments.model.folder,
                     " has no tokenizer; name one with --tokenizer"));
  }
  options.ends = model.ends;
  const std::vector<std::string> prompts = arguments.prompts.empty()
                                               ? std::vector<std::string>{""}
                                               : arguments.prompts;
  const model::Graph graph = model::BuildGraph(model.config);
  runtime::ThreadPool pool("sample", threads);
  const trainer::TextModel text_model = {
      .graph = graph,
      .parameters = model.parameters,
      .context = model.config.n_positions,
      .gemm = model::cpu::DefaultGemmBackend(),
      .executor = pool};
  SKERRY_ASSIGN_OR_RETURN(
      const std::vector<GeneratedText> texts,
      trainer::GenerateTexts(text_model, *model.codec, prompts, options,
                             [] { return false; }));
  if (output.form == OutputForm::kJson) {
    PrintJson(prompts, texts, output.out);
    return absl::OkStatus();
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    output.out << prompts[i] << texts[i].text << "\n";
  }
  return absl::OkStatus();
}

namespace {

void AddOptions(CLI::App& app, SampleArguments& wanted) {
  AddModelOptions(app, wanted.model);
  app.add_option("--prompt", wanted.prompts,
                 "how the text begins; several make several texts; "
                 "default: with nothing")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  runtime::AddNumber(app, "--tokens", wanted.tokens, {.low = 1},
                     "tokens to add, at most")
      ->capture_default_str();
  runtime::AddNumber(app, "--temperature", wanted.temperature,
                     {0, kTemperatureMax},
                     "0 takes the likeliest token, 1 draws as the model says")
      ->capture_default_str();
  runtime::AddNumber(app, "--top-k", wanted.top_k, {0, kVocabMax},
                     "draw from the likeliest so many alone; 0 draws from all")
      ->capture_default_str();
  runtime::AddNumber(app, "--top-p", wanted.top_p, {0, 1},
                     "draw from the likeliest that make up this share alone")
      ->capture_default_str();
  runtime::AddNumber(app, "--seed", wanted.seed, {},
                     "seed of the draw: the same one gives the same text")
      ->capture_default_str();
  app.add_option("--stop", wanted.stops,
                 "the text ends before it; may be repeated; default: none")
      ->type_name("TEXT")
      ->allow_extra_args(false);
}

absl::Status Run(const SampleArguments& arguments, runtime::Files& files,
                 const Output& output) {
  SampleArguments beside = arguments;
  beside.model.sentencepiece_program = runtime::SentencePieceBeside();
  return SampleTexts(beside, files, output);
}

}  // namespace

Command SampleCommand() {
  return MakeCommand<SampleArguments>(
      {.words = "sample",
       .about = "texts from a model in a folder",
       .add_options = AddOptions,
       .run = Run});
}

}  // namespace skerry::cli
