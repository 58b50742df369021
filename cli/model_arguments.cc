#include "cli/model_arguments.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/number_limits.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

void AddModelOptions(CLI::App* leaf, LocalModelArguments& wanted) {
  leaf->add_option("FOLDER", wanted.folder,
                   "a checkpoint, a folder of them, or a model of transformers")
      ->required();
  leaf->add_option("--tokenizer", wanted.tokenizer,
                   "a tokenizer.json or tokenizer.model; the folder's when not "
                   "given");
  runtime::AddNumber(*leaf, "--threads", wanted.threads, {1, kThreadsMax},
                     "as many as this process may use when not given");
}

CLI::Option* AddValidation(CLI::App& app, double& fraction) {
  return runtime::AddNumber(app, "--validation", fraction, {0, 0.5},
                            "share kept for validation")
      ->capture_default_str();
}

void AddShardTokens(CLI::App& app, uint64_t& tokens_max) {
  runtime::AddNumber(app, "--shard-tokens", tokens_max, {.low = 1},
                     "tokens a shard, at most")
      ->capture_default_str();
}

// How files of somebody's texts are read.
void AddTextOptions(CLI::App* leaf, data::JsonLinesForm& lines,
                    std::optional<data::TextKind>& kind) {
  leaf->add_option("--json-key", lines.key,
                   "under which a JSON line has its text")
      ->capture_default_str();
  leaf->add_option_function<std::string>(
          "--bad-lines",
          [&lines](const std::string& word) {
            lines.bad_lines =
                word == "skip" ? data::BadLines::kSkip : data::BadLines::kStop;
          },
          "stop at a JSON line without a text, or skip and count it")
      ->check(CLI::IsMember({"stop", "skip"}))
      ->default_str("stop");
  leaf->add_option_function<std::string>(
          "--format",
          [&kind](const std::string& word) {
            if (word == "text") kind = data::TextKind::kText;
            if (word == "jsonl") kind = data::TextKind::kJsonLines;
          },
          "what the inputs hold: text, jsonl, or auto by content and name")
      ->check(CLI::IsMember({"auto", "text", "jsonl"}))
      ->default_str("auto");
}

}  // namespace

void AddDataPrepareOptions(CLI::App* prepare, DataPrepareOptions& wanted) {
  prepare
      ->add_option("INPUT", wanted.inputs,
                   "files of text or JSON lines, in this order, also in gzip "
                   "or zstd; - is standard input")
      ->required();
  // Not `-o`, which is the form of what is printed.
  prepare->add_option("--out", wanted.output_directory, "folder to make")
      ->required();
  prepare->add_option(
      "--tokenizer", wanted.tokenizer,
      "a tokenizer.json or tokenizer.model; bytes when not given");
  prepare->add_option("--document-end", wanted.document_end,
                      "added token after each document, or none");
  AddTextOptions(prepare, wanted.lines, wanted.kind);
  prepare
      ->add_option_function<std::string>(
          "--special-tokens",
          [&wanted](const std::string& word) {
            using Written = data::TokenizerFile::WrittenSpecials;
            wanted.written_specials =
                word == "as-text" ? Written::kText : Written::kToken;
          },
          "what becomes of text that is written like one: the token, or text")
      ->check(CLI::IsMember({"as-token", "as-text"}))
      ->default_str("as-token");
  AddValidation(*prepare, wanted.validation_fraction);
  AddShardTokens(*prepare, wanted.shard_tokens_max);
  runtime::AddNumber(*prepare, "--threads", wanted.threads, {1, kThreadsMax},
                     "as many as this process may use when not given");
}

void AddDataImportOptions(CLI::App* import, DataImportOptions& wanted) {
  import
      ->add_option("INPUT", wanted.inputs,
                   "llm.c .bin, NumPy .npy and Megatron .idx files, in this "
                   "order")
      ->required();
  import->add_option("--out", wanted.output_directory, "folder to make")
      ->required();
  import->add_option("--tokenizer", wanted.tokenizer,
                     "the file of the tokenizer that made the tokens");
  runtime::AddNumber(*import, "--vocab-size", wanted.vocab_size, {1, kVocabMax},
                     "above every token; the tokenizer's when not given");
  CLI::Option* files =
      import->add_option("--validation-input", wanted.validation_inputs,
                         "such a file for validation; may be repeated");
  files->allow_extra_args(false);
  AddValidation(*import, wanted.validation_fraction)->excludes(files);
  AddShardTokens(*import, wanted.shard_tokens_max);
}

void AddTrainTokenizerOptions(CLI::App* train,
                              TrainTokenizerArguments& wanted) {
  train
      ->add_option("INPUT", wanted.inputs,
                   "files as data prepare reads them, in this order")
      ->required();
  train->add_option("--out", wanted.out, "file to make")->required();
  runtime::AddNumber(*train, "--vocab-size", wanted.vocab_size, {1, kVocabMax},
                     "tokens, at most")
      ->capture_default_str();
  runtime::AddNumber(*train, "--min-frequency", wanted.min_frequency,
                     {.low = 1}, "of a pair that becomes a token")
      ->capture_default_str();
  train
      ->add_option("--kind", wanted.kind,
                   "whose way to cut texts in pieces, one of: gpt2 or llama3")
      ->capture_default_str();
  train
      ->add_option("--special", wanted.specials,
                   "special token; several get the first numbers; "
                   "<|endoftext|> when not given")
      ->allow_extra_args(false);
  AddTextOptions(train, wanted.lines, wanted.input_kind);
}

void AddSampleOptions(CLI::App* sample, SampleArguments& wanted) {
  AddModelOptions(sample, wanted.model);
  sample
      ->add_option("--prompt", wanted.prompts,
                   "how the text begins; several make several texts; "
                   "default: with nothing")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  runtime::AddNumber(*sample, "--tokens", wanted.tokens, {.low = 1},
                     "how many to add, at most")
      ->capture_default_str();
  runtime::AddNumber(*sample, "--temperature", wanted.temperature,
                     {0, kTemperatureMax}, "0 takes the likeliest token")
      ->capture_default_str();
  runtime::AddNumber(*sample, "--top-k", wanted.top_k, {0, kVocabMax},
                     "draw from the likeliest so many alone; 0: from all");
  runtime::AddNumber(*sample, "--top-p", wanted.top_p, {0, 1},
                     "draw from the likeliest that make up this share alone")
      ->capture_default_str();
  runtime::AddNumber(*sample, "--seed", wanted.seed, {}, "of the draw")
      ->capture_default_str();
  sample
      ->add_option("--stop", wanted.stops,
                   "the text ends before it; may be repeated; default: none")
      ->type_name("TEXT")
      ->allow_extra_args(false);
}

void AddEvaluateOptions(CLI::App* evaluate, EvaluateArguments& wanted) {
  AddModelOptions(evaluate, wanted.model);
  evaluate
      ->add_option("--data", wanted.data,
                   "a prepared data set; default: none, as --text is given")
      ->type_name("FOLDER");
  evaluate
      ->add_option("--text", wanted.text,
                   "a text file; default: none, as --data is given")
      ->type_name("FILE");
  evaluate
      ->add_option("--split", wanted.split,
                   "of the data set, one of: train or validation")
      ->check(CLI::IsMember({"train", "validation"}))
      ->capture_default_str();
  runtime::AddNumber(*evaluate, "--tokens", wanted.tokens, {1, kTokensMax},
                     "of a sample; the model's context when not given");
  runtime::AddNumber(*evaluate, "--samples", wanted.samples, {.low = 1},
                     "the first so many; all when not given");
}

}  // namespace skerry::cli
