#include "trainer/main/program.h"

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
#include "runtime/command_line/number_option.h"
#include "runtime/command_line/parse_words.h"
#include "runtime/log.h"
#include "runtime/log_level.h"
#include "runtime/posix/posix_executor.h"
#include "runtime/posix/signal_wait.h"
#include "runtime/posix/spdlog_log.h"
#include "runtime/posix/thread_pool.h"
#include "trainer/main/cpu_facts.h"
#include "trainer/main/parent_watch.h"
#include "trainer/service/trainer_service.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/library_log.h"

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

int Serve(const Flags& flags, const TrainerMaker& make) {
  runtime::SignalWait signals;
  runtime::SpdlogSink sink(stderr, runtime::SpdlogSink::FormFor(stderr),
                           flags.log_level);
  runtime::InstallLogSink(&sink);
  transport::TakeLibraryLogs();
  ExitWithParent(flags.parent_pid);
  runtime::ThreadPool pool("compute", flags.threads);
  runtime::PosixExecutor calls("trainer", 1);
  TrainerService service(
      [&pool, &make](const v1::JobSpec& job, ShardCheck check,
                     const std::function<void()>& on_piece) {
        return make(job, check, pool, on_piece);
      },
      calls, [] { kill(getpid(), SIGTERM); });
  grpc::ServerBuilder builder;
  transport::Credentials::Plaintext()->AddPort(
      absl::StrCat("unix:", flags.socket), builder);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr,
                 "skerry-trainer: cannot listen on %s; its folder has to exist "
                 "and to be writable\n",
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

}  // namespace

int RunProgram(int argc, char** argv, const TrainerMaker& make) {
  Flags flags;
  CLI::App app("Runs the inner steps of one Skerry worker.", "skerry-trainer");
  app.set_version_flag("--version", std::string(kRelease));
  app.add_option("--socket", flags.socket, "Unix socket to listen on")
      ->required();
  runtime::AddNumber(app, "--threads", flags.threads, {1, kThreadsMax},
                     "threads that compute");
  runtime::AddNumber(app, "--parent-pid", flags.parent_pid, {.low = 0},
                     "process to end with; it has to be the parent");
  app.add_option("--log-level", flags.log_level, runtime::kLogLevelHelp)
      ->transform(CLI::CheckedTransformer(runtime::LogLevels()))
      ->default_str("info");
  if (const auto ended = runtime::ParseOrPrint(app, argc, argv)) return *ended;
  if (flags.socket.empty() || flags.socket.size() > kSocketPathMax) {
    return runtime::PrintEnded(runtime::WrongLine(
        app, absl::StrCat("--socket: has to be a path of 1 to ", kSocketPathMax,
                          " characters")));
  }
  StartAgainForOpenBlas(argv);
  return Serve(flags, make);
}

}  // namespace skerry::trainer
