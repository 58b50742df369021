#include "worker/daemon/worker_daemon.h"

#include <functional>
#include <utility>

#include "transport/grpc/identity_metrics.h"
#include "worker/daemon/codec_speeds.h"
#include "worker/daemon/peer_addresses.h"
#include "worker/daemon/worker_metrics.h"
#include "worker/shell/served_job.h"

namespace skerry::worker {
namespace {

ShellOptions WithClock(ShellOptions options, runtime::LookAtMachine look) {
  options.unix_ms = [look = std::move(look)] { return look().unix_ms; };
  return options;
}

}  // namespace

WorkerDaemon::WorkerDaemon(WorkerOptions options,
                           const JobEnvironment& environment)
    : environment_(environment),
      look_(std::move(options.look)),
      credentials_(options.coordinator.credentials),
      relays_(options.shell.self.relay),
      channel_(options.coordinator, environment.loop),
      folders_(environment.loop, environment.disk, environment.files,
               environment.state_directory),
      data_(environment.loop, environment.save,
            [this] { shell_.StatusChanged(); }),
      revoked_(credentials_->revocations()),
      tries_(environment.loop, std::move(options.dial_peer),
             options.shell.self.outbound_only,
             [this] { shell_.StatusChanged(); }),
      pieces_(options.coordinator.coordinator, credentials_,
              [this](const protocol::PieceKey& key) {
                return shell_.OnFetch({"coordinator", false}, key);
              }),
      shell_(WithClock(std::move(options.shell), look_), Ports()) {}

WorkerDaemon::~WorkerDaemon() = default;

ShellPorts WorkerDaemon::Ports() {
  return {.loop = environment_.loop,
          .session = channel_,
          .folders = folders_,
          .machine = *this,
          .make_job = [this](const protocol::JobOrders& orders,
                             std::function<void()> status_changed) {
            return std::make_unique<ServedJob>(orders, MachineOf(environment_),
                                               std::move(status_changed));
          }};
}

void WorkerDaemon::Start() {
  environment_.data_cache.Start();
  environment_.programs.KeepLooking(
      [this, alive = std::weak_ptr<char>(alive_)] {
        if (!alive.expired()) shell_.StatusChanged();
      });
  shell_.Start();
  MeasureCodecsOn(environment_.compute, environment_.loop, alive_,
                  [this](std::vector<protocol::CodecSpeed> speeds) {
                    shell_.SetCodecSpeeds(std::move(speeds));
                  });
}

void WorkerDaemon::OnOrders(const protocol::Orders& orders) {
  LearnAddresses(orders, *credentials_, relays_, environment_.directory);
  tries_.OnOrders(orders, environment_.bulk.unreached());
  revoked_.OnOrders(orders.revoked);
  data_.OnPaths(orders.data_paths);
}

void WorkerDaemon::OnJobsTakenUp(const protocol::Orders& orders) {
  pieces_.OnOrders(orders.pieces);
}

void WorkerDaemon::AddFacts(protocol::StatusFacts& facts) const {
  facts.machine = look_();
  // The coordinator keeps those workers of an island apart that name different
  // hosts. Who also meets trainers on other hosts names none.
  if (!environment_.island_address.empty()) facts.machine.host.clear();
  facts.looks_at_data = true;
  facts.data = data_.Facts();
  facts.programs = environment_.programs.Facts();
  facts.takes_streams = facts.takes_relays = facts.fetches_data = true;
  facts.unreached = environment_.bulk.unreached();
  facts.tried = tries_.Told();
  facts.revoked_version = revoked_.version();
}

std::vector<runtime::Metric> WorkerDaemon::Metrics() const {
  WorkerFacts facts{.status = shell_.Facts(),
                    .job_names = {},
                    .connected = shell_.Ready().ok(),
                    .sessions_lost = shell_.sessions_lost()};
  for (const auto& [id, job] : shell_.jobs().jobs()) {
    facts.job_names[id] = job->name();
  }
  std::vector<runtime::Metric> metrics = MetricsOf(facts);
  transport::AddIdentityMetrics(*credentials_, metrics);
  environment_.data_cache.AddMetrics(metrics);
  shell_.AddMetrics(metrics);
  tries_.AddMetrics(metrics);
  return metrics;
}

}  // namespace skerry::worker
