#include "data/prepare/testing/prepare.h"

#include "runtime/posix/sentencepiece_program.h"
#include "runtime/posix/thread_pool.h"

namespace skerry::data::testing {

absl::Status Prepare(const PrepareOptions& options, const PrepareMeans& means,
                     runtime::Files& files, std::ostream& err) {
  runtime::ThreadPool pool("prepare", means.threads);
  return PrepareDataSet(options,
                        {.executor = pool,
                         .sentencepiece = runtime::SentencePieceProgram(
                             means.sentencepiece_program),
                         .seconds = [] { return 0.0; },
                         .files = files,
                         .err = err})
      .status();
}

}  // namespace skerry::data::testing
