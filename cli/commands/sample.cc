#include "cli/commands/sample.h"

#include <ostream>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/threads.h"
#include "model/cpu/gemm.h"
#include "model/spec/model_graph.h"
#include "nlohmann/json.hpp"
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

}  // namespace skerry::cli
