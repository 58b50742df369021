// The trainer process: flags and wiring. A worker starts it.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "grpcpp/grpcpp.h"
#include "runtime/log.h"
#include "runtime/log_level.h"
#include "runtime/posix/posix_executor.h"
#include "runtime/posix/signal_wait.h"
#include "runtime/posix/spdlog_log.h"
#include "runtime/posix/thread_pool.h"
#include "trainer/main/cpu_facts.h"
#include "trainer/main/parent_watch.h"
#include "trainer/service/job_trainer.h"
#include "trainer/service/trainer_service.h"

namespace skerry::trainer {
namespace {

constexpr int kThreadsMax = 1024;
// A socket's path has at most 107 characters and a final zero.
constexpr size_t kSocketPathMax = 107;

struct Flags {
  std::string socket;
  int threads = 1;
  int parent_pid = 0;
  runtime::Severity log_level = runtime::Severity::kInfo;
};

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

int Serve(const Flags& flags) {
  runtime::SignalWait signals;
  runtime::SpdlogSink sink(stderr, runtime::SpdlogSink::FormFor(stderr),
                           flags.log_level);
  runtime::InstallLogSink(&sink);
  ExitWithParent(flags.parent_pid);
  runtime::ThreadPool pool("compute", flags.threads);
  runtime::PosixExecutor calls("trainer", 1);
  TrainerService service(
      [&pool](const v1::JobSpec& job, ShardCheck check) {
        return MakeJobTrainer(job, check, pool);
      },
      calls, [] { kill(getpid(), SIGTERM); });
  grpc::ServerBuilder builder;
  builder.AddListeningPort(absl::StrCat("unix:", flags.socket),
                           grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr, "skerry-trainer: cannot listen on %s\n",
                 flags.socket.c_str());
    return 1;
  }
  runtime::Log(runtime::Severity::kInfo, "trainer.listening",
               {{"socket", flags.socket}, {"threads", flags.threads}});
  signals.Wait();
  service.StopCalls();
  // Returns when every call is answered.
  server->Shutdown();
  runtime::InstallLogSink(nullptr);
  return 0;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Runs the inner steps of one Skerry worker.", "skerry-trainer");
  app.set_version_flag("--version", std::string(kRelease));
  app.add_option("--socket", flags.socket, "Unix socket to listen on")
      ->required();
  app.add_option("--threads", flags.threads, "threads that compute")
      ->check(CLI::Range(1, kThreadsMax));
  app.add_option("--parent-pid", flags.parent_pid,
                 "process to end with; it has to be the parent")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--log-level", flags.log_level, runtime::kLogLevelHelp)
      ->transform(CLI::CheckedTransformer(runtime::LogLevels()))
      ->default_str("info");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (flags.socket.empty() || flags.socket.size() > kSocketPathMax) {
    std::fprintf(stderr,
                 "skerry-trainer: --socket needs a path of 1 to %zu "
                 "characters\n",
                 kSocketPathMax);
    return 2;
  }
  StartAgainForOpenBlas(argv);
  return Serve(flags);
}

}  // namespace
}  // namespace skerry::trainer

int main(int argc, char** argv) { return skerry::trainer::Main(argc, argv); }
