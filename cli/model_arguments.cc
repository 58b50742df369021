#include "cli/model_arguments.h"

#include <CLI/CLI.hpp>

namespace skerry::cli {
namespace {

void AddModelOptions(CLI::App* leaf, LocalModelArguments& wanted) {
  leaf->add_option("FOLDER", wanted.folder,
                   "a checkpoint, a folder of them, or a model of transformers")
      ->required();
  leaf->add_option("--tokenizer", wanted.tokenizer,
                   "a tokenizer.json or tokenizer.model; the folder's when not "
                   "given");
  leaf->add_option("--threads", wanted.threads,
                   "as many as the machine has when not given");
}

}  // namespace

void AddDataPrepareOptions(CLI::App* prepare, DataPrepareOptions& wanted) {
  prepare
      ->add_option("INPUT", wanted.inputs,
                   "text files and .jsonl files, in this order")
      ->required();
  // Not `-o`, which is the form of what is printed.
  prepare->add_option("--out", wanted.output_directory, "folder to make")
      ->required();
  prepare->add_option(
      "--tokenizer", wanted.tokenizer,
      "a tokenizer.json or tokenizer.model; bytes when not given");
  prepare->add_option("--document-end", wanted.document_end,
                      "added token after each document, or none");
  prepare
      ->add_option("--json-key", wanted.json_key,
                   "under which a JSON line has its text")
      ->capture_default_str();
  prepare
      ->add_option("--validation", wanted.validation_fraction,
                   "share kept for validation")
      ->capture_default_str();
  prepare
      ->add_option("--shard-tokens", wanted.shard_tokens_max,
                   "tokens a shard, at most")
      ->capture_default_str();
  prepare->add_option("--threads", wanted.threads,
                      "as many as the machine has when not given");
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
  import->add_option("--vocab-size", wanted.vocab_size,
                     "above every token; the tokenizer's when not given");
  CLI::Option* files =
      import->add_option("--validation-input", wanted.validation_inputs,
                         "such a file for validation; may be repeated");
  files->allow_extra_args(false);
  import
      ->add_option("--validation", wanted.validation_fraction,
                   "share kept for validation")
      ->capture_default_str()
      ->excludes(files);
  import
      ->add_option("--shard-tokens", wanted.shard_tokens_max,
                   "tokens a shard, at most")
      ->capture_default_str();
}

void AddTrainTokenizerOptions(CLI::App* train,
                              TrainTokenizerArguments& wanted) {
  train
      ->add_option("INPUT", wanted.inputs,
                   "text files and .jsonl files, in this order")
      ->required();
  train->add_option("--out", wanted.out, "file to make")->required();
  train->add_option("--vocab-size", wanted.vocab_size, "tokens, at most")
      ->capture_default_str();
  train
      ->add_option("--min-frequency", wanted.min_frequency,
                   "of a pair that becomes a token")
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
  train
      ->add_option("--json-key", wanted.json_key,
                   "under which a JSON line has its text")
      ->capture_default_str();
}

void AddSampleOptions(CLI::App* sample, SampleArguments& wanted) {
  AddModelOptions(sample, wanted.model);
  sample
      ->add_option("--prompt", wanted.prompts,
                   "how the text begins; several make several texts; "
                   "default: with nothing")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  sample->add_option("--tokens", wanted.tokens, "how many to add, at most")
      ->capture_default_str();
  sample
      ->add_option("--temperature", wanted.temperature,
                   "0 takes the likeliest token")
      ->capture_default_str();
  sample->add_option("--top-k", wanted.top_k,
                     "draw from the likeliest so many alone; 0: from all");
  sample
      ->add_option("--top-p", wanted.top_p,
                   "draw from the likeliest that make up this share alone")
      ->capture_default_str();
  sample->add_option("--seed", wanted.seed, "of the draw")
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
  evaluate->add_option("--tokens", wanted.tokens,
                       "of a sample; the model's context when not given");
  evaluate->add_option("--samples", wanted.samples,
                       "the first so many; all when not given");
}

}  // namespace skerry::cli
