#include "cli/commands/data_prepare.h"

#include "base/status.h"
#include "cli/commands/prepare_report.h"
#include "cli/threads.h"
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

}  // namespace skerry::cli
