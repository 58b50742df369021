// skerry-worker: flags and wiring.

#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/check.h"
#include "base/release.h"
#include "base/status.h"
#include "identity/x509/identity_folder.h"
#include "runtime/log.h"
#include "runtime/metrics.h"
#include "runtime/posix/admin_server.h"
#include "runtime/posix/curl_http.h"
#include "runtime/posix/curl_ports.h"
#include "runtime/posix/descriptors.h"
#include "runtime/posix/entropy.h"
#include "runtime/posix/folder_lock.h"
#include "runtime/posix/heap.h"
#include "runtime/posix/machine.h"
#include "runtime/posix/notify_socket.h"
#include "runtime/posix/posix_executor.h"
#include "runtime/posix/posix_files.h"
#include "runtime/posix/posix_loop.h"
#include "runtime/posix/signal_wait.h"
#include "runtime/posix/spdlog_log.h"
#include "runtime/posix/state_folder.h"
#include "runtime/posix/steady_waits.h"
#include "runtime/s3/places.h"
#include "runtime/service_notices.h"
#include "transport/address.h"
#include "transport/directory.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/grpc_bulk.h"
#include "transport/grpc/library_log.h"
#include "transport/grpc/trial.h"
#include "worker/daemon/folder_id.h"
#include "worker/daemon/join.h"
#include "worker/daemon/notice_source.h"
#include "worker/daemon/peer_client.h"
#include "worker/daemon/peer_service.h"
#include "worker/daemon/preemption_watch.h"
#include "worker/daemon/programs.h"
#include "worker/daemon/worker_daemon.h"
#include "worker/main/data_parts.h"
#include "worker/main/options.h"
#include "worker/main/own_addresses.h"
#include "worker/main/receiver_switch.h"
#include "worker/main/trainers.h"

namespace skerry::worker {
namespace {

constexpr int kFailedExit = 1;
constexpr int kRefusedExit = 3;
constexpr int kNameTakenExit = 4;
// A socket's path has at most 107 bytes; the trainer's ends with process, job
// and count, which need 40.
constexpr size_t kSocketRootBytesMax = 107 - 40;

absl::Time WallTime() { return absl::FromUnixMillis(runtime::UnixMs()); }

// Runs `work` on the loop and waits for it.
template <typename Work>
void OnLoop(runtime::EventLoop& loop, Work work) {
  absl::Notification done;
  loop.Post([&] {
    work();
    done.Notify();
  });
  done.WaitForNotification();
}

absl::Status WritePort(runtime::Files& files, const std::string& path,
                       const std::string& address) {
  if (path.empty()) return absl::OkStatus();
  const std::string port = address.substr(address.rfind(':') + 1) + "\n";
  return Annotate(files.WriteDurably(
                      path, std::as_bytes(std::span(port.data(), port.size()))),
                  "cannot write the port file");
}

int Fail(const absl::Status& status, int exit_code = kFailedExit) {
  std::cerr << "skerry-worker: " << status.message() << "\n";
  return exit_code;
}

// Everything that lives as long as the process serves.
struct Parts {
  Parts(const CommandLine& line,
        std::shared_ptr<transport::Credentials> identity)
      : credentials(std::move(identity)),
        loop("worker"),
        identity("identity", 1),
        compute("codec", line.codec_threads),
        disk("disk", 1),
        save("save", 1),
        inner("inner", 1),
        program_reader("programs", 1),
        programs(AllowedPrograms(line.trainers), files, loop, program_reader),
        data(line, files, loop) {}

  std::shared_ptr<transport::Credentials> credentials;
  // The session tells it, and renewal reads it.
  std::shared_ptr<IdentityMark> mark = std::make_shared<IdentityMark>();
  runtime::PosixLoop loop;
  runtime::PosixExecutor identity;
  // Tasks that end late still use them.
  runtime::PosixFiles files;
  runtime::CurlHttp object_stores;
  runtime::s3::Places places{files, runtime::PortsOver(object_stores)};
  runtime::PosixExecutor compute;
  runtime::PosixExecutor disk;
  runtime::PosixExecutor save;
  runtime::PosixExecutor inner;
  runtime::PosixExecutor program_reader;
  Programs programs;
  DataParts data;
  ReceiverSwitch receiver;
  // Touched on the loop.
  transport::Directory directory;
  std::unique_ptr<PeerService> peer_service;
  std::unique_ptr<transport::GrpcBulk> bulk;
  std::unique_ptr<PeerClient> peers;
  std::unique_ptr<transport::Trial> trial;
  // None unless notices are wanted. A thread for each source.
  std::unique_ptr<runtime::CurlHttp> http;
  std::unique_ptr<runtime::PosixExecutor> notices;
  // Touched on the loop.
  std::unique_ptr<WorkerDaemon> daemon;
  std::unique_ptr<PreemptionWatch> watch;
  absl::Status refused;
  bool draining = false;
  std::function<void()> stop;  // once the process can be stopped
};

absl::Status Listen(const CommandLine& line, Parts& parts) {
  parts.peer_service = std::make_unique<PeerService>(parts.loop);
  transport::GrpcBulkOptions options;
  options.listen_address = line.listen;
  options.name = line.name;
  options.credentials = parts.credentials;
  options.seed = runtime::DrawRandom64();
  absl::StatusOr<std::unique_ptr<transport::GrpcBulk>> bulk =
      transport::GrpcBulk::Start(
          options, parts.loop, parts.directory, parts.receiver,
          [&parts](grpc::ServerBuilder& builder) {
            builder.RegisterService(parts.peer_service.get());
          });
  if (!bulk.ok()) return bulk.status();
  parts.bulk = *std::move(bulk);
  parts.peers = std::make_unique<PeerClient>(parts.loop, parts.directory,
                                             parts.credentials);
  parts.trial = std::make_unique<transport::Trial>(
      transport::TrialOptions{line.name, parts.credentials}, parts.loop);
  return WritePort(parts.files, line.port_file, parts.bulk->address());
}

void StartDaemon(const CommandLine& line, FolderId folder, Parts& parts) {
  OwnAddresses own =
      AddressesOf(line.advertise, line.listen, parts.bulk->address());
  std::string island_address = line.island_address;
  if (island_address.empty() && !line.shared_memory_only &&
      !line.outbound_only) {
    island_address = transport::HostOf(own.inside);
  }
  WorkerOptions options;
  ShellOptions& shell = options.shell;
  shell.folder = folder;
  shell.self.worker = line.name;
  shell.self.address = own.outside.front();
  shell.self.more_addresses.assign(own.outside.begin() + 1, own.outside.end());
  shell.self.island_address = std::move(own.inside);
  shell.self.outbound_only = line.outbound_only;
  shell.self.relay = line.relay;
  shell.island = line.island;
  shell.session.jitter_seed = runtime::DrawRandom64();
  shell.draw_boot = runtime::DrawRandom64;
  shell.retention = line.retention;
  shell.on_refused = [&parts, &line](const absl::Status& why) {
    parts.refused = Annotate(
        why, absl::StrCat("the coordinator at ", line.coordinator, " refuses"));
    if (parts.stop) parts.stop();
  };
  options.coordinator.coordinator = line.coordinator;
  options.coordinator.credentials = parts.credentials;
  options.coordinator.on_mark = [mark = parts.mark](std::string told) {
    mark->Set(std::move(told));
  };
  options.dial_peer = [&parts](const protocol::TryOrder& order, auto done) {
    parts.trial->Dial(order.worker, order.endpoints, std::move(done));
  };
  options.look = [folder = line.state_directory] {
    return runtime::LookAt(folder);
  };
  const JobEnvironment environment{
      .loop = parts.loop,
      .compute = parts.compute,
      .disk = parts.disk,
      .save = parts.save,
      .inner = parts.inner,
      .files = parts.files,
      .places = parts.places,
      .data_cache = parts.data.cache,
      .data_server = parts.data.server,
      .bulk = *parts.bulk,
      .peers = *parts.peers,
      .directory = parts.directory,
      .worker = line.name,
      .host = runtime::LookAt(line.state_directory).host,
      .island_address = island_address,
      .state_directory = line.state_directory,
      .run_directory = line.run_directory,
      .trainer_command = EngineCommand(line.trainers, line.log_level),
      .attach_command = AttachCommand(line.trainers, line.log_level),
      .programs = parts.programs,
      .ended_idle = line.ended_idle};
  OnLoop(parts.loop, [&] {
    parts.daemon =
        std::make_unique<WorkerDaemon>(std::move(options), environment);
    parts.receiver.set_target(&parts.daemon->shell());
    parts.peer_service->set_receiver(parts.daemon.get());
    parts.daemon->Start();
    transport::Credentials::Watch(parts.credentials, parts.loop,
                                  parts.identity);
  });
}

// Looks for notices that this machine will be taken away, when anybody gives
// any. The daemon is there.
void StartWatch(const CommandLine& line, Parts& parts) {
  if (line.notice_sources.empty()) return;
  parts.http = std::make_unique<runtime::CurlHttp>();
  parts.notices = std::make_unique<runtime::PosixExecutor>(
      "notice", static_cast<int>(line.notice_sources.size()));
  std::vector<NoticeSource> sources;
  for (const NoticeSourceSpec& spec : line.notice_sources) {
    sources.push_back(MakeNoticeSource(
        spec, {line.metadata_endpoint,
               [&http = *parts.http](const runtime::HttpRequest& request) {
                 return http.Fetch(request);
               },
               WallTime}));
  }
  OnLoop(parts.loop, [&] {
    parts.watch = std::make_unique<PreemptionWatch>(
        parts.loop, *parts.notices, std::move(sources), line.preemption_lead,
        [&parts](const std::optional<PendingNotice>& notice) {
          parts.daemon->shell().SetNotice(notice);
        });
    parts.watch->Start();
  });
}

// How long the loop may take before it counts as stuck.
constexpr absl::Duration kAnswerMax = absl::Seconds(2);

// What `ask` answers on the loop; Unavailable when the loop does not answer,
// or the worker is on its way out.
template <typename Answer>
Answer Asked(Parts& parts,
             std::function<Answer(const WorkerDaemon& daemon)> ask) {
  struct Shared {
    absl::Notification done;
    Answer answer = absl::UnavailableError("it starts or stops");
  };
  const auto shared = std::make_shared<Shared>();
  parts.loop.Post([&parts, shared, ask = std::move(ask)] {
    if (parts.daemon != nullptr) shared->answer = ask(*parts.daemon);
    shared->done.Notify();
  });
  if (!shared->done.WaitForNotificationWithTimeout(kAnswerMax)) {
    return absl::UnavailableError("the loop does not answer");
  }
  return std::move(shared->answer);
}

// None when no admin port is wanted.
absl::StatusOr<std::unique_ptr<runtime::AdminServer>> StartAdmin(
    const CommandLine& line, Parts& parts) {
  if (line.admin.empty()) return nullptr;
  runtime::AdminFacts facts;
  facts.metrics = [&parts] {
    return Asked<absl::StatusOr<std::vector<runtime::Metric>>>(
        parts, [](const WorkerDaemon& daemon) { return daemon.Metrics(); });
  };
  facts.healthy = [&parts] {
    return Asked<absl::Status>(
        parts, [](const WorkerDaemon&) { return absl::OkStatus(); });
  };
  facts.ready = [&parts] {
    return Asked<absl::Status>(parts, [](const WorkerDaemon& daemon) {
      return daemon.shell().Ready();
    });
  };
  SKERRY_ASSIGN_OR_RETURN(
      std::unique_ptr<runtime::AdminServer> admin,
      runtime::AdminServer::Start(line.admin, std::move(facts)));
  SKERRY_RETURN_IF_ERROR(WritePort(parts.files, line.admin_port_file,
                                   absl::StrCat(":", admin->port())));
  runtime::Log(runtime::Severity::kInfo, "worker.admin",
               {{"port", admin->port()}});
  return admin;
}

// Tells the service manager that the worker serves, and from then on what it
// does.
void StartNotices(const CommandLine& line, Parts& parts,
                  runtime::ServiceNotices& notices) {
  notices.Ready("serves");
  OnLoop(parts.loop, [&] {
    notices.FeedFrom(parts.loop, [&]() -> std::string {
      if (parts.draining || parts.daemon == nullptr) return "drains";
      const absl::Status ready = parts.daemon->shell().Ready();
      return ready.ok() ? absl::StrCat("follows ", line.coordinator)
                        : std::string(ready.message());
    });
  });
}

// Waits for SIGTERM or SIGINT, drains, and stops; a second signal or the
// timeout cuts the draining short.
void ServeUntilDrained(const CommandLine& line, Parts& parts,
                       runtime::SignalWait& signals,
                       runtime::ServiceNotices& notices) {
  absl::Notification stopped;
  bool stopping = false;
  const auto stop = [&] {
    if (std::exchange(stopping, true)) return;
    parts.daemon->shell().Stop([&stopped] { stopped.Notify(); });
  };
  OnLoop(parts.loop, [&] {
    parts.stop = stop;
    if (!parts.refused.ok()) stop();
  });
  signals.Deliver(parts.loop, [&](int signal) {
    if (std::exchange(parts.draining, true)) return stop();
    notices.Stopping("drains");
    parts.loop.RunAt(parts.loop.Now() + line.drain_timeout, stop);
    parts.daemon->shell().Drain(stop);
  });
  stopped.WaitForNotification();
  OnLoop(parts.loop, [&] {
    parts.watch.reset();
    parts.receiver.set_target(nullptr);
    parts.peer_service->set_receiver(nullptr);
    parts.daemon.reset();
    parts.trial.reset();
    parts.peers.reset();
    parts.bulk.reset();
  });
  if (parts.http != nullptr) parts.http->Cancel();
  parts.object_stores.Cancel();
  parts.notices.reset();
}

// The state folder, which is this process's alone until the lock goes.
absl::StatusOr<std::unique_ptr<runtime::FolderLock>> TakeState(
    const CommandLine& line, runtime::Files& files) {
  for (const std::string& directory :
       {line.state_directory, line.run_directory}) {
    SKERRY_RETURN_IF_ERROR(files.MakeDirectory(directory));
  }
  SKERRY_RETURN_IF_ERROR(runtime::CheckStateFolder(line.state_directory,
                                                   runtime::Daemon::kWorker));
  SKERRY_ASSIGN_OR_RETURN(
      std::unique_ptr<runtime::FolderLock> lock,
      runtime::FolderLock::Take(line.state_directory, "worker"));
  // Says whose folder it is before there is any job.
  SKERRY_RETURN_IF_ERROR(files.MakeDirectory(
      absl::StrCat(line.state_directory, "/", runtime::kJobsFolder)));
  return lock;
}

absl::StatusOr<std::shared_ptr<transport::Credentials>> MakeCredentials(
    const CommandLine& line, const runtime::Files& files) {
  if (!line.identity.has_value()) return transport::Credentials::Plaintext();
  return transport::Credentials::FromFiles(*line.identity, files, WallTime);
}

std::string IdentityFolder(const CommandLine& line) {
  return line.state_directory + identity::kIdentityFolder;
}

// OK at once for a worker that is not to join. Errors: of Join.
absl::Status JoinCluster(const CommandLine& line, runtime::SignalWait& signals,
                         runtime::Files& files) {
  if (line.join_token_file.empty()) return absl::OkStatus();
  const JoinOptions options{.coordinator = line.coordinator,
                            .ca_pin = line.ca_pin,
                            .token_file = line.join_token_file,
                            .name = line.name,
                            .island = line.island,
                            .folder = IdentityFolder(line),
                            .wall = WallTime,
                            .wait = [&signals](absl::Duration time) {
                              return signals.WaitFor(time) == 0;
                            }};
  return Join(options, AskPinned(options), files);
}

// Certificates from elsewhere are renewed by whoever wrote them.
void StartRenewing(const CommandLine& line, Parts& parts,
                   runtime::Files& files) {
  const std::string folder = IdentityFolder(line);
  if (!line.identity.has_value() ||
      line.identity->certificate != folder + identity::kChainFile) {
    return;
  }
  KeepRenewing({.folder = folder,
                .channel = parts.credentials->ChannelTo(
                    line.coordinator, transport::ServerKind::kCoordinator,
                    grpc::ChannelArguments()),
                .wall = WallTime,
                .mark = parts.mark},
               parts.loop, parts.identity, files);
}

int Main(int argc, char** argv) {
  const ParsedCommandLine parsed = ParseCommandLine(argc, argv);
  if (parsed.exit) return parsed.exit_code;
  const CommandLine& line = parsed.command_line;
  if (line.run_directory.size() + line.name.size() > kSocketRootBytesMax) {
    return Fail(absl::InvalidArgumentError(
        absl::StrCat(line.run_directory,
                     " is too long a path for the trainer's socket; "
                     "give a shorter one with --run-dir")));
  }
  runtime::ShareHeap();
  runtime::KeepFreeHeap();
  runtime::RaiseDescriptorLimit();
  runtime::ServiceNotices notices = runtime::NoticesToManager();
  runtime::SignalWait signals;
  runtime::SpdlogSink sink(stderr, runtime::SpdlogSink::FormFor(stderr),
                           line.log_level);
  runtime::InstallLogSink(&sink);
  transport::TakeLibraryLogs();
  SKERRY_CHECK(runtime::WaitsAreSteady());
  runtime::PosixFiles files;
  const auto state = TakeState(line, files);
  if (!state.ok()) return Fail(state.status());
  notices.Starting(absl::StrCat("joins the cluster of ", line.coordinator));
  if (const absl::Status joined = JoinCluster(line, signals, files);
      !joined.ok()) {
    if (absl::IsCancelled(joined)) return 0;
    return Fail(joined,
                absl::IsAlreadyExists(joined) ? kNameTakenExit : kRefusedExit);
  }
  const auto credentials = MakeCredentials(line, files);
  if (!credentials.ok()) return Fail(credentials.status());
  Parts parts(line, *credentials);
  const absl::StatusOr<FolderId> folder =
      FolderIdOf(line.state_directory, parts.files, runtime::DrawRandom64);
  if (!folder.ok()) return Fail(folder.status());
  if (const absl::Status status = CheckTrainers(line.trainers); !status.ok()) {
    return Fail(status);
  }
  // Gone before the loop is.
  auto admin = StartAdmin(line, parts);
  if (!admin.ok()) return Fail(admin.status());
  if (const absl::Status status = Listen(line, parts); !status.ok()) {
    return Fail(status);
  }
  runtime::Log(runtime::Severity::kInfo, "worker.started",
               {{"name", line.name},
                {"island", line.island},
                {"listen", parts.bulk->address()},
                {"coordinator", line.coordinator},
                {"release", kRelease}});
  StartDaemon(line, *folder, parts);
  StartWatch(line, parts);
  OnLoop(parts.loop, [&] { StartRenewing(line, parts, files); });
  StartNotices(line, parts, notices);
  ServeUntilDrained(line, parts, signals, notices);
  admin->reset();
  parts.loop.Stop();
  runtime::InstallLogSink(nullptr);
  if (parts.refused.ok()) return 0;
  return Fail(parts.refused, absl::IsAlreadyExists(parts.refused)
                                 ? kNameTakenExit
                                 : kRefusedExit);
}

}  // namespace
}  // namespace skerry::worker

int main(int argc, char** argv) { return skerry::worker::Main(argc, argv); }
