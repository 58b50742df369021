// skerry-coordinator: decides who trains what, and keeps the history of it.
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/check.h"
#include "base/release.h"
#include "base/status.h"
#include "coordinator/main/arguments.h"
#include "coordinator/main/change_ca.h"
#include "coordinator/main/init.h"
#include "coordinator/service/cluster_identity.h"
#include "coordinator/service/coordinator_server.h"
#include "coordinator/service/page_feed.h"
#include "coordinator/service/sqlite_journal.h"
#include "runtime/files.h"
#include "runtime/log.h"
#include "runtime/posix/admin_server.h"
#include "runtime/posix/descriptors.h"
#include "runtime/posix/entropy.h"
#include "runtime/posix/heap.h"
#include "runtime/posix/machine.h"
#include "runtime/posix/monotonic_clock.h"
#include "runtime/posix/notify_socket.h"
#include "runtime/posix/posix_executor.h"
#include "runtime/posix/posix_files.h"
#include "runtime/posix/posix_loop.h"
#include "runtime/posix/signal_wait.h"
#include "runtime/posix/spdlog_log.h"
#include "runtime/posix/state_folder.h"
#include "runtime/posix/steady_waits.h"
#include "runtime/service_notices.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/library_log.h"

namespace skerry::coordinator {
namespace {

using runtime::Log;
using runtime::Severity;

ExitCode Failed(const absl::Status& why, ExitCode code) {
  Log(Severity::kError, "coordinator.start.failed",
      {{"cause", std::string(why.message())}});
  return code;
}

constexpr absl::Duration kLookAtIdentity = absl::Seconds(5);

absl::Time WallTime() { return absl::FromUnixMillis(runtime::UnixMs()); }

ExitCode CodeOf(const absl::Status& start) {
  return absl::IsUnavailable(start) ? ExitCode::kListen : ExitCode::kState;
}

absl::Status WritePort(const std::string& path, int port) {
  if (path.empty()) return absl::OkStatus();
  const std::string text = absl::StrCat(port, "\n");
  runtime::PosixFiles files;
  return Annotate(files.WriteDurably(path, std::as_bytes(std::span(text))),
                  "cannot write the port file");
}

// Without a cluster in the folder the issuer stays empty.
absl::Status TakeCluster(const std::string& folder, runtime::Files& files,
                         Issuer* issuer) {
  absl::StatusOr<ClusterIdentity> cluster =
      ClusterIdentity::Open(folder, files);
  if (absl::IsNotFound(cluster.status())) return absl::OkStatus();
  SKERRY_RETURN_IF_ERROR(cluster.status());
  SKERRY_RETURN_IF_ERROR(cluster->RenewOwn(WallTime()).status());
  issuer->cluster =
      std::make_shared<const ClusterIdentity>(*std::move(cluster));
  issuer->wall = WallTime;
  issuer->draw = runtime::DrawRandom64;
  return absl::OkStatus();
}

// Takes a CA that another process has replaced or retired into use, and renews
// the own certificate when it is due. Errors: of ReadAuthorities and RenewOwn.
absl::Status LookAtIdentity(const Issuer& issuer) {
  SKERRY_ASSIGN_OR_RETURN(const bool changed, issuer.cluster->Reload());
  if (changed) {
    Log(Severity::kInfo, "coordinator.ca.changed",
        {{"pin", issuer.cluster->pin()}});
  }
  return issuer.cluster->RenewOwn(issuer.wall()).status();
}

// Looks every few seconds, and says a failure once. The credentials that are in
// use see new files by themselves. `loop` outlives `disk`.
void KeepRenewing(const Issuer& issuer, runtime::EventLoop& loop,
                  runtime::Executor& disk, std::string failure = "") {
  if (issuer.cluster == nullptr) return;
  loop.RunAt(loop.Now() + kLookAtIdentity, [issuer, &loop, &disk,
                                            failure]() mutable {
    disk.Run([issuer, &loop, &disk, failure] {
      const absl::Status looked = LookAtIdentity(issuer);
      std::string now(looked.message());
      if (!looked.ok() && now != failure) {
        Log(Severity::kError, "coordinator.renewal.failed", {{"cause", now}});
      }
      loop.Post([issuer, &loop, &disk, now = std::move(now)]() mutable {
        KeepRenewing(issuer, loop, disk, std::move(now));
      });
    });
  });
}

// None when no admin port is wanted.
absl::StatusOr<std::unique_ptr<runtime::AdminServer>> StartAdmin(
    const Arguments& arguments, CoordinatorServer& server, PageFeed& page) {
  if (arguments.admin.empty()) return nullptr;
  runtime::AdminFacts facts;
  facts.metrics = [&server] { return server.Metrics(); };
  facts.healthy = [&server] { return server.Healthy(); };
  facts.ready = [&server] { return server.Ready(); };
  facts.pages = [&page](const runtime::WebRequest& request) {
    return page.Answer(request);
  };
  SKERRY_ASSIGN_OR_RETURN(
      std::unique_ptr<runtime::AdminServer> admin,
      runtime::AdminServer::Start(arguments.admin, std::move(facts)));
  SKERRY_RETURN_IF_ERROR(WritePort(arguments.admin_port_file, admin->port()));
  Log(Severity::kInfo, "coordinator.admin", {{"port", admin->port()}});
  return admin;
}

// Nothing may be said that the journal does not hold, so nothing is left to do.
void EndProcess(const absl::Status& why) {
  Log(Severity::kError, "coordinator.journal.failed", {{"cause", why}});
  _exit(static_cast<int>(ExitCode::kJournal));
}

absl::StatusOr<std::shared_ptr<transport::Credentials>> MakeCredentials(
    const Arguments& arguments, const runtime::Files& files) {
  if (!arguments.identity.has_value()) {
    return transport::Credentials::Plaintext();
  }
  return transport::Credentials::FromFiles(*arguments.identity, files,
                                           WallTime);
}

ExitCode Serve(const Arguments& arguments, runtime::SignalWait& signals,
               runtime::ServiceNotices& notices) {
  runtime::PosixFiles files;
  ServerOptions options = arguments.server;
  absl::Status good =
      runtime::CheckStateFolder(arguments.state, runtime::Daemon::kCoordinator);
  if (good.ok()) {
    good = TakeCluster(arguments.state, files, &options.operators.issuer);
  }
  if (!good.ok()) return Failed(good, ExitCode::kState);
  const auto credentials = MakeCredentials(arguments, files);
  if (!credentials.ok()) return Failed(credentials.status(), ExitCode::kState);
  options.credentials = *credentials;
  runtime::PosixLoop loop("coordinator");
  runtime::PosixExecutor identity("identity", 1);
  // Outlives the writes that `disk` still has when it goes.
  std::unique_ptr<SqliteJournal> journal;
  runtime::PosixExecutor disk("journal", 1);
  absl::StatusOr<std::unique_ptr<SqliteJournal>> opened = SqliteJournal::Open(
      arguments.state, absl::ToUnixMillis(WallTime()), disk, loop, EndProcess);
  if (!opened.ok()) return Failed(opened.status(), ExitCode::kState);
  journal = *std::move(opened);
  if (options.operators.issuer.cluster != nullptr) {
    options.control.mark = [cluster = options.operators.issuer.cluster] {
      return cluster->mark();
    };
  }
  options.control.look = options.operators.look = [&arguments] {
    return runtime::LookAt(arguments.state);
  };
  CoordinatorServer server(options, loop, *journal);
  const absl::Cleanup stop_loop = [&loop] { loop.Stop(); };
  PageFeed page(
      journal->term(),
      [&server](Revision after) { return server.LookForPage(after); },
      runtime::MonotonicNow);
  // Before recovery, which it can tell of; gone before the loop is.
  const auto admin = StartAdmin(arguments, server, page);
  if (!admin.ok()) return Failed(admin.status(), ExitCode::kListen);
  notices.Starting("reads the journal");
  absl::Status started = server.Start();
  if (!started.ok()) return Failed(started, CodeOf(started));
  started = WritePort(arguments.port_file, server.port());
  Log(Severity::kInfo, "coordinator.serving",
      {{"port", server.port()},
       {"state", arguments.state},
       {"term", journal->term()},
       {"release", kRelease}});
  loop.Post([&] {
    transport::Credentials::Watch(*credentials, loop, identity);
    KeepRenewing(options.operators.issuer, loop, identity);
  });
  int signal = 0;
  if (started.ok()) {
    notices.Ready("serves");
    loop.Post(
        [&] { notices.FeedFrom(loop, [&server] { return server.Doing(); }); });
    signal = signals.Wait();
    notices.Stopping("answers what waits, and ends");
  }
  server.Stop();
  if (!started.ok()) return Failed(started, ExitCode::kListen);
  Log(Severity::kInfo, "coordinator.stopped", {{"signal", signal}});
  return ExitCode::kStopped;
}

ExitCode MainOfInit(std::vector<std::string> words) {
  const ParsedInit parsed = ParseInit(std::move(words));
  if (!parsed.arguments.has_value()) {
    const bool is_help = parsed.code == ExitCode::kStopped;
    (is_help ? std::cout : std::cerr) << parsed.text << std::flush;
    return parsed.code;
  }
  runtime::PosixFiles files;
  absl::Status good = runtime::CheckStateFolder(parsed.arguments->state,
                                                runtime::Daemon::kCoordinator);
  if (good.ok()) {
    const absl::StatusOr<std::string> said =
        Init(*parsed.arguments, runtime::DrawRandom64, WallTime(), files);
    if (said.ok()) std::cout << *said << std::flush;
    good = said.status();
  }
  if (good.ok()) return ExitCode::kStopped;
  std::cerr << "skerry-coordinator init: " << good.message() << "\n";
  return ExitCode::kState;
}

ExitCode MainOfChange(CaChange change, std::vector<std::string> words) {
  const ParsedCaChange parsed = ParseCaChange(change, std::move(words));
  if (!parsed.arguments.has_value()) {
    const bool is_help = parsed.code == ExitCode::kStopped;
    (is_help ? std::cout : std::cerr) << parsed.text << std::flush;
    return parsed.code;
  }
  runtime::PosixFiles files;
  const absl::StatusOr<std::string> said =
      ChangeCa(*parsed.arguments, WallTime(), files);
  if (said.ok()) {
    std::cout << *said << std::flush;
    return ExitCode::kStopped;
  }
  std::cerr << "skerry-coordinator " << CommandOf(change) << ": "
            << said.status().message() << "\n";
  return ExitCode::kState;
}

ExitCode Main(std::vector<std::string> words) {
  const std::string command = words.empty() ? "" : words.front();
  if (command == "init") {
    return MainOfInit({words.begin() + 1, words.end()});
  }
  for (const CaChange change : {CaChange::kReplace, CaChange::kRetire}) {
    if (command == CommandOf(change)) {
      return MainOfChange(change, {words.begin() + 1, words.end()});
    }
  }
  const Parsed parsed = ParseArguments(std::move(words));
  if (!parsed.arguments.has_value()) {
    const bool is_help = parsed.code == ExitCode::kStopped;
    (is_help ? std::cout : std::cerr) << parsed.text << std::flush;
    return parsed.code;
  }
  runtime::ShareHeap();
  runtime::RaiseDescriptorLimit();
  runtime::ServiceNotices notices = runtime::NoticesToManager();
  runtime::SignalWait signals;
  runtime::SpdlogSink log(stderr, runtime::SpdlogSink::FormFor(stderr),
                          parsed.arguments->log_level);
  runtime::InstallLogSink(&log);
  transport::TakeLibraryLogs();
  SKERRY_CHECK(runtime::WaitsAreSteady());
  const ExitCode code = Serve(*parsed.arguments, signals, notices);
  runtime::InstallLogSink(nullptr);
  return code;
}

}  // namespace
}  // namespace skerry::coordinator

int main(int argc, char** argv) {
  return static_cast<int>(skerry::coordinator::Main({argv + 1, argv + argc}));
}
