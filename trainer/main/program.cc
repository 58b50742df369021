#include "trainer/main/program.h"

#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "CLI/CLI.hpp"
#include "runtime/command_line/number_option.h"
#include "runtime/posix/thread_pool.h"
#include "trainer/main/cpu_facts.h"
#include "trainer/main/trainer_process.h"

namespace skerry::trainer {
namespace {

constexpr int kThreadsMax = 1024;

// OpenBLAS reads its core type when it is loaded, before main; so the process
// starts itself again with the variable set. Returns when that is not needed.
void StartAgainForOpenBlas(char** argv) {
  if (getenv("OPENBLAS_CORETYPE") != nullptr) return;
  const std::string core_type = OpenBlasCoreTypeHere();
  if (core_type.empty()) return;
  setenv("OPENBLAS_CORETYPE", core_type.c_str(), 1);
  execv("/proc/self/exe", argv);
  // Without it everything works, only slower.
}

}  // namespace

int RunProgram(int argc, char** argv, const TrainerMaker& make) {
  ProcessFlags flags;
  int threads = 1;
  CLI::App app("Runs the inner steps of one Skerry worker.", "skerry-trainer");
  AddProcessFlags(app, flags);
  runtime::AddNumber(app, "--threads", threads, {1, kThreadsMax},
                     "threads that compute");
  if (const auto code = ParseProcessFlags(app, flags, argc, argv)) return *code;
  StartAgainForOpenBlas(argv);
  TrainerProcess process("skerry-trainer", flags);
  runtime::ThreadPool pool("compute", threads);
  return process.Serve(
      [&](const v1::JobSpec& job, ShardCheck check, StopRequested stop) {
        return make(job, check, pool, [stop] { stop(); });
      });
}

}  // namespace skerry::trainer
