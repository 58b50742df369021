#include "cli/model_arguments.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "cli/number_limits.h"
#include "cli/word_checks.h"
#include "runtime/command_line/number_option.h"

namespace skerry::cli {
namespace {

void AddThreads(CLI::App& app, int& threads) {
  runtime::AddNumber(app, "--threads", threads, {1, kThreadsMax},
                     "threads; default: as many as this process may use");
}

void AddModelOptions(CLI::App* leaf, LocalModelArguments& wanted) {
  leaf->add_option("FOLDER", wanted.folder,
                   "a checkpoint, a folder of them, of which the newest is "
                   "taken, or a model as transformers saves it")
      ->required();
  leaf->add_option("--tokenizer", wanted.tokenizer,
                   "a tokenizer.json or tokenizer.model; default: the folder's")
      ->type_name("FILE");
  AddThreads(*leaf, wanted.threads);
}

CLI::Option* AddValidation(CLI::App& app, double& fraction) {
  return runtime::AddNumber(app, "--validation", fraction, {0, 0.5},
                            "share kept for validation, 0 to 0.5")
      ->capture_default_str();
}

void AddShardTokens(CLI::App& app, uint64_t& tokens_max) {
  runtime::AddNumber(app, "--shard-tokens", tokens_max, {.low = 1},
                     "tokens in a shard, at most")
      ->capture_default_str();
}

// How files of somebody's texts are read.
void AddTextOptions(CLI::App* leaf, data::JsonLinesForm& lines,
                    std::optional<data::TextKind>& kind) {
  leaf->add_option("--json-key", lines.key,
                   "key under which a JSON line has its text")
      ->type_name("KEY")
      ->capture_default_str();
  leaf->add_option_function<std::string>(
          "--bad-lines",
          [&lines](const std::string& word) {
            lines.bad_lines =
                word == "skip" ? data::BadLines::kSkip : data::BadLines::kStop;
          },
          "what to do at a JSON line without a text, one of: stop or skip")
      ->check(IsOneOf({"stop", "skip"}))
      ->type_name("WORD")
      ->default_str("stop");
  leaf->add_option_function<std::string>(
          "--format",
          [&kind](const std::string& word) {
            if (word == "text") kind = data::TextKind::kText;
            if (word == "jsonl") kind = data::TextKind::kJsonLines;
          },
          "what the inputs hold, where auto goes by content and name; one "
          "of: auto, text or jsonl")
      ->check(IsOneOf({"auto", "text", "jsonl"}))
      ->type_name("WORD")
      ->default_str("auto");
}

}  // namespace

void AddDataPrepareOptions(CLI::App* prepare, DataPrepareArguments& wanted) {
  data::PrepareOptions& set = wanted.set;
  prepare
      ->add_option("INPUT", set.inputs,
                   "files of text or JSON lines, in this order, also in gzip "
                   "or zstd; - is standard input")
      ->required();
  // Not `-o`, which is the form of what is printed.
  prepare->add_option("--out", set.output_directory, "folder to make")
      ->type_name("FOLDER")
      ->required();
  prepare
      ->add_option("--tokenizer", set.encoding.tokenizer,
                   "a tokenizer.json or tokenizer.model; default: none, every "
                   "byte is a token")
      ->type_name("FILE");
  prepare
      ->add_option("--document-end", set.encoding.document_end,
                   "special token after each document, or `none`; default: the "
                   "tokenizer's")
      ->type_name("TOKEN");
  AddTextOptions(prepare, set.lines, set.kind);
  prepare
      ->add_option_function<std::string>(
          "--special-tokens",
          [&encoding = set.encoding](const std::string& word) {
            using Written = data::TokenizerFile::WrittenSpecials;
            encoding.written_specials =
                word == "as-text" ? Written::kText : Written::kToken;
          },
          "how text that is written like one is read, one of: as-token or "
          "as-text")
      ->check(IsOneOf({"as-token", "as-text"}))
      ->type_name("WORD")
      ->default_str("as-token");
  AddValidation(*prepare, set.validation_fraction);
  AddShardTokens(*prepare, set.shard_tokens_max);
  AddThreads(*prepare, wanted.threads);
}

void AddDataImportOptions(CLI::App* import, DataImportOptions& wanted) {
  import
      ->add_option("INPUT", wanted.inputs,
                   "llm.c .bin, NumPy .npy and Megatron .idx files, in this "
                   "order")
      ->required();
  import->add_option("--out", wanted.output_directory, "folder to make")
      ->type_name("FOLDER")
      ->required();
  import
      ->add_option("--tokenizer", wanted.tokenizer,
                   "the file of the tokenizer that made the tokens; default: "
                   "none, and --vocab-size is needed")
      ->type_name("FILE");
  runtime::AddNumber(*import, "--vocab-size", wanted.vocab_size, {1, kVocabMax},
                     "how many tokens there are; default: the tokenizer's");
  CLI::Option* files =
      import
          ->add_option("--validation-input", wanted.validation_inputs,
                       "such a file for validation; may be repeated; "
                       "default: none, but a share of the others")
          ->type_name("FILE");
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
  train->add_option("--out", wanted.out, "file to make")
      ->type_name("FILE")
      ->required();
  runtime::AddNumber(*train, "--vocab-size", wanted.vocab_size, {1, kVocabMax},
                     "tokens that it learns, at most")
      ->capture_default_str();
  runtime::AddNumber(*train, "--min-frequency", wanted.min_frequency,
                     {.low = 1},
                     "how often a pair has to occur to become a token")
      ->capture_default_str();
  train
      ->add_option("--kind", wanted.kind,
                   "whose way to cut texts in pieces, one of: gpt2 or llama3")
      ->type_name("WORD")
      ->capture_default_str();
  train
      ->add_option("--special", wanted.specials,
                   "special token; several get the first numbers; default: "
                   "<|endoftext|>")
      ->type_name("TOKEN")
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
                     "tokens to add, at most")
      ->capture_default_str();
  runtime::AddNumber(*sample, "--temperature", wanted.temperature,
                     {0, kTemperatureMax},
                     "0 takes the likeliest token, 1 draws as the model says")
      ->capture_default_str();
  runtime::AddNumber(*sample, "--top-k", wanted.top_k, {0, kVocabMax},
                     "draw from the likeliest so many alone; 0 draws from all")
      ->capture_default_str();
  runtime::AddNumber(*sample, "--top-p", wanted.top_p, {0, 1},
                     "draw from the likeliest that make up this share alone")
      ->capture_default_str();
  runtime::AddNumber(*sample, "--seed", wanted.seed, {},
                     "seed of the draw: the same one gives the same text")
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
      ->check(IsOneOf({"train", "validation"}))
      ->type_name("WORD")
      ->capture_default_str();
  runtime::AddNumber(*evaluate, "--tokens", wanted.tokens, {1, kTokensMax},
                     "tokens in a sample; default: the model's context");
  runtime::AddNumber(*evaluate, "--samples", wanted.samples, {.low = 1},
                     "only the first so many samples; default: all");
}

void AddDescribeModelOptions(CLI::App* describe,
                             DescribeModelArguments& wanted) {
  describe->add_option("FILE", wanted.file, "a Hugging Face config.json")
      ->required();
  runtime::AddNumber(*describe, "--samples", wanted.samples, {1, 65536},
                     "samples in a micro-batch")
      ->capture_default_str();
  runtime::AddNumber(*describe, "--tokens", wanted.tokens, {1, kTokensMax},
                     "tokens in a sample; default: the model's context");
  runtime::AddNumber(*describe, "--threads", wanted.threads, {1, kThreadsMax},
                     "threads of the trainer")
      ->capture_default_str();
  describe->add_flag("--recompute", wanted.recompute,
                     "as for a job with training.recompute");
  CLI::Option* stages =
      runtime::AddNumber(*describe, "--stages", wanted.stages, {1, 4096},
                         "cut into so many stages of about equal work; "
                         "default: not cut");
  describe
      ->add_option("--cut", wanted.cuts,
                   "cut before these operators, with commas between them; "
                   "default: not cut")
      ->type_name("OPERATORS")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(stages);
}

}  // namespace skerry::cli
