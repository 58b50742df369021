#include "trainer/main/trainer_process.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "base/release.h"
#include "grpcpp/grpcpp.h"
#include "runtime/command_line/number_option.h"
#include "runtime/command_line/parse_words.h"
#include "runtime/command_line/word_option.h"
#include "runtime/log_level.h"
#include "runtime/posix/posix_executor.h"
#include "trainer/main/parent_watch.h"
#include "trainer/service/trainer_service.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/library_log.h"

namespace skerry::trainer {
namespace {

// A socket's path has at most 107 characters and a final zero.
constexpr size_t kSocketPathMax = 107;

}  // namespace

void AddProcessFlags(CLI::App& app, ProcessFlags& flags) {
  app.set_version_flag("--version", std::string(kRelease));
  app.add_option("--socket", flags.socket, "Unix socket to listen on")
      ->required();
  runtime::AddNumber(app, "--parent-pid", flags.parent_pid, {.low = 0},
                     "process to end with; it has to be the parent");
  runtime::AddWord(app, "--log-level", flags.log_level, runtime::LogLevels(),
                   runtime::kLogLevelHelp)
      ->type_name("LEVEL")
      ->default_str("info");
}

std::optional<int> ParseProcessFlags(CLI::App& app, const ProcessFlags& flags,
                                     int argc, char** argv) {
  if (const auto ended = runtime::ParseOrPrint(app, argc, argv)) return *ended;
  if (flags.socket.empty() || flags.socket.size() > kSocketPathMax) {
    return runtime::PrintEnded(runtime::WrongLine(
        app, absl::StrCat("--socket: has to be a path of 1 to ", kSocketPathMax,
                          " characters")));
  }
  return std::nullopt;
}

TrainerProcess::TrainerProcess(const char* program, ProcessFlags flags)
    : program_(program),
      flags_(std::move(flags)),
      sink_(stderr, runtime::SpdlogSink::FormFor(stderr), flags_.log_level) {
  runtime::InstallLogSink(&sink_);
  transport::TakeLibraryLogs();
  ExitWithParent(program_, flags_.parent_pid);
}

TrainerProcess::~TrainerProcess() { runtime::InstallLogSink(nullptr); }

int TrainerProcess::Serve(JobTrainerMaker make) {
  runtime::PosixExecutor calls("trainer", 1);
  TrainerService service(std::move(make), calls,
                         [] { kill(getpid(), SIGTERM); });
  grpc::ServerBuilder builder;
  transport::Credentials::Plaintext()->AddPort(
      absl::StrCat("unix:", flags_.socket), builder);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr,
                 "%s: cannot listen on %s; its folder has to exist and to be "
                 "writable\n",
                 program_, flags_.socket.c_str());
    return 1;
  }
  runtime::Log(runtime::Severity::kInfo, "trainer.listening",
               {{"socket", flags_.socket}});
  signals_.Wait();
  service.StopCalls();
  // Returns when every call is answered.
  server->Shutdown();
  return 0;
}

}  // namespace skerry::trainer
