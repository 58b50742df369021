// Registers many workers with a real coordinator, as one process. They speak
// the protocol of real workers, take places in jobs and get a state, and never
// train. One in a hundred falls silent, and one in a hundred drains.
//
//   many_workers PORT WORKERS ISLANDS
//
// Prints "registered" once the coordinator has answered all of them, and goes
// on until it is killed.
#include <grpcpp/grpcpp.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/random.h"
#include "coordinator/core/testing/fake_worker.h"
#include "proto/skerry/v1/control.grpc.pb.h"
#include "protocol/convert/orders.h"
#include "protocol/convert/status.h"
#include "runtime/posix/monotonic_clock.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry {
namespace {

constexpr absl::Duration kPause = absl::Seconds(1);

std::string IslandName(size_t island) { return absl::StrCat("i", island); }

class Worker {
 public:
  Worker(v1::Control::Stub& stub, size_t number, size_t islands, Random& random)
      : number_(number),
        islands_(islands),
        fake_(absl::StrCat("w", number), IslandName(number % islands)),
        stream_(stub.Session(Patient(context_))) {
    fake_.Start(random, runtime::MonotonicNow());
  }
  ~Worker() { context_.TryCancel(); }

  void Say() {
    protocol::StatusFacts facts = fake_.Status();
    facts.self.address = "127.0.0.1:1";
    if (number_ % 100 == 42) {
      facts.draining = true;
      facts.drain_reason = "gcp announces the end of its machine";
    }
    for (protocol::JobFacts& job : facts.jobs) AddLinks(job);
    v1::Status status;
    protocol::StatusToProto(facts, &status);
    stream_->Write(status);
  }

  // False when the coordinator has ended the stream.
  bool Hear(Random& random) {
    v1::Orders orders;
    if (!stream_->Read(&orders)) return false;
    fake_.OnOrders(protocol::OrdersFromProto(orders).orders, random,
                   runtime::MonotonicNow());
    return true;
  }

  bool FallsSilent() const { return number_ % 100 == 7; }

 private:
  // Waits for a coordinator that is still starting.
  static grpc::ClientContext* Patient(grpc::ClientContext& context) {
    context.set_wait_for_ready(true);
    return &context;
  }

  // One measured link to each other island, of a rate that follows from both.
  void AddLinks(protocol::JobFacts& job) const {
    for (size_t island = 0; island < islands_; ++island) {
      if (island == number_ % islands_) continue;
      protocol::PeerLink link;
      link.worker = absl::StrCat("w", island);
      link.bytes_per_s =
          1e6 * static_cast<double>(1 + (7 * island + 3 * number_) % 97);
      link.round_trip_s = 0.001 * static_cast<double>(5 + island);
      job.links.push_back(link);
    }
  }

  const size_t number_;
  const size_t islands_;
  coordinator::FakeWorker fake_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::Status, v1::Orders>> stream_;
};

int Main(const std::string& port, size_t workers_count, size_t islands) {
  Random random(1);
  // A coordinator lets a connection have 128 streams.
  constexpr size_t kStreams = 100;
  std::vector<std::unique_ptr<v1::Control::Stub>> stubs;
  std::vector<std::unique_ptr<Worker>> workers;
  for (size_t i = 0; i < workers_count; ++i) {
    if (i % kStreams == 0) {
      grpc::ChannelArguments arguments;
      arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
      arguments.SetMaxReceiveMessageSize(-1);
      stubs.push_back(v1::Control::NewStub(transport::PlaintextChannel(
          absl::StrCat("127.0.0.1:", port), arguments)));
    }
    workers.push_back(
        std::make_unique<Worker>(*stubs.back(), i, islands, random));
  }
  for (bool first = true;; first = false) {
    for (const auto& worker : workers) worker->Say();
    for (const auto& worker : workers) {
      if (worker->Hear(random)) continue;
      std::fprintf(stderr, "many_workers: the coordinator ends a stream\n");
      return 1;
    }
    if (first) {
      std::puts("registered");
      std::fflush(stdout);
      std::erase_if(workers,
                    [](const auto& worker) { return worker->FallsSilent(); });
    }
    absl::SleepFor(kPause);
  }
}

}  // namespace
}  // namespace skerry

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: many_workers PORT WORKERS ISLANDS\n");
    return 2;
  }
  return skerry::Main(argv[1], std::strtoul(argv[2], nullptr, 10),
                      std::strtoul(argv[3], nullptr, 10));
}
