#include "simulator/worker_node.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "simulator/seat_node.h"
#include "simulator/world.h"

namespace skerry::sim {
namespace {

// Returns the id of the state folder on the host's disk. It changes each time
// the disk is lost.
uint64_t FolderOf(World& world, HostId host) {
  return (uint64_t{host} << 32) + world.machine(host).disk->losses() + 1;
}

}  // namespace

std::string PlainNameOf(HostId host) { return absl::StrCat("w", host); }

std::string EndpointText(const Endpoint& endpoint) {
  return absl::StrCat("host", endpoint.host, ":", endpoint.run);
}

Endpoint EndpointOf(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  Endpoint endpoint;
  SKERRY_CHECK(parts.size() == 2 && parts[0].starts_with("host") &&
               absl::SimpleAtoi(parts[0].substr(4), &endpoint.host) &&
               absl::SimpleAtoi(parts[1], &endpoint.run));
  return endpoint;
}

WorkerNode::WorkerNode(World& world, HostId host, uint64_t run)
    : world_(world),
      host_(host),
      run_(run),
      process_(world.timeline, world.random, world.machine(host).clock,
               [this] { AfterTask(); }),
      bulk_(world, process_, host, directory_, *this),
      session_(world, process_, host),
      folders_(world, process_, host),
      shell_(Options(), Ports()) {
  process_.Post([this] { shell_.Start(); });
}

worker::ShellOptions WorkerNode::Options() {
  const std::string endpoint = EndpointText({host_, run_});
  worker::ShellOptions options;
  options.self = {world_.NameOf(host_), endpoint, endpoint};
  options.island = world_.shape(host_).island;
  options.session.jitter_seed = world_.random();
  options.folder = FolderId(FolderOf(world_, host_));
  options.draw_boot = [&random = world_.random] { return random() | 1; };
  // The simulation's clock is the wall clock of a worker.
  options.unix_ms = [this] {
    return 1 + absl::ToInt64Milliseconds(process_.Now().since_start());
  };
  options.on_refused = [this](const absl::Status& why) {
    world_.Exit(host_, std::string(why.message()));
  };
  return options;
}

worker::ShellPorts WorkerNode::Ports() {
  return {.loop = process_,
          .session = session_,
          .folders = folders_,
          .machine = *this,
          .make_job = [this](const protocol::JobOrders& orders,
                             std::function<void()> status_changed) {
            return std::make_unique<SeatNode>(world_, *this, orders,
                                              std::move(status_changed));
          }};
}

void WorkerNode::EachSeat(const std::function<void(SeatNode&)>& look) const {
  // `make_job` has made all of them.
  for (const auto& [id, job] : shell_.jobs().jobs()) {
    look(static_cast<SeatNode&>(*job));
  }
}

void WorkerNode::AfterTask() {
  EachSeat([](SeatNode& seat) { seat.Look(); });
}

void WorkerNode::Drain() {
  shell_.Drain([this] { world_.Exit(host_, "it is released"); });
}

void WorkerNode::KillTrainers() {
  EachSeat([](SeatNode& seat) { seat.KillTrainer(); });
}

void WorkerNode::HangTrainers(Hang how) {
  EachSeat([how](SeatNode& seat) { seat.HangTrainer(how); });
}

void WorkerNode::OnOrders(const protocol::Orders& orders) {
  directory_.Learn(orders.directory);
}

void WorkerNode::AddFacts(protocol::StatusFacts& facts) const {
  facts.programs = world_.setting.programs;
}

}  // namespace skerry::sim
