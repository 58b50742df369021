#include "cli/commands/data_prepare.h"

#include <CLI/CLI.hpp>

#include "base/status.h"
#include "cli/commands/prepare_report.h"
#include "cli/data_options.h"
#include "cli/threads.h"
#include "cli/word_checks.h"
#include "data/tokenizer_file.h"
#include "runtime/posix/sentencepiece_program.h"
#include "runtime/posix/stopwatch.h"
#include "runtime/posix/thread_pool.h"

namespace skerry::cli {

absl::Status DataPrepare(const DataPrepareArguments& arguments,
                         runtime::Files& files, const Output& output) {
  SKERRY_ASSIGN_OR_RETURN(const int threads, ThreadsOf(arguments.threads));
  runtime::ThreadPool pool("prepare", threads);
  SKERRY_ASSIGN_OR_RETURN(
      const data::PreparedSet set,
      data::PrepareDataSet(arguments.set,
                           {.executor = pool,
                            .sentencepiece = runtime::SentencePieceProgram(
                                arguments.sentencepiece_program),
                            .seconds =
                                [stopwatch = runtime::Stopwatch()] {
                                  return stopwatch.Seconds();
                                },
                            .files = files,
                            .err = output.err}));
  return ReportDataSet(arguments.set.output_directory, set, files, output.out);
}

namespace {

void AddOptions(CLI::App& app, DataPrepareArguments& wanted) {
  data::PrepareOptions& set = wanted.set;
  app.add_option("INPUT", set.inputs,
                 "files of text or JSON lines, in this order, also in gzip "
                 "or zstd; - is standard input")
      ->required();
  // Not `-o`, which is the form of what is printed.
  app.add_option("--out", set.output_directory, "folder to make")
      ->type_name("FOLDER")
      ->required();
  app.add_option("--tokenizer", set.encoding.tokenizer,
                 "a tokenizer.json or tokenizer.model; default: none, every "
                 "byte is a token")
      ->type_name("FILE");
  app.add_option("--document-end", set.encoding.document_end,
                 "special token after each document, or `none`; default: the "
                 "tokenizer's")
      ->type_name("TOKEN");
  AddTextOptions(app, set.lines, set.kind);
  app.add_option_function<std::string>(
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
  AddValidation(app, set.validation_fraction);
  AddShardTokens(app, set.shard_tokens_max);
  AddThreads(app, wanted.threads);
}

absl::Status Run(const DataPrepareArguments& arguments, runtime::Files& files,
                 const Output& output) {
  DataPrepareArguments beside = arguments;
  beside.sentencepiece_program = runtime::SentencePieceBeside();
  return DataPrepare(beside, files, output);
}

}  // namespace

Command DataPrepareCommand() {
  return MakeCommand<DataPrepareArguments>({.words = "data prepare",
                                            .about = "text files to a data set",
                                            .add_options = AddOptions,
                                            .run = Run});
}

}  // namespace skerry::cli
