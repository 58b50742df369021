#include "worker/daemon/job_environment.h"

#include <unistd.h>

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "protocol/job_orders.h"
#include "runtime/posix/heap.h"
#include "worker/daemon/checkpoint_places.h"
#include "worker/daemon/inner_fetch.h"
#include "worker/daemon/inner_store.h"
#include "worker/daemon/job_data.h"
#include "worker/daemon/job_disk.h"
#include "worker/daemon/job_folders.h"
#include "worker/daemon/peer_port.h"
#include "worker/daemon/trainer_seam.h"

namespace skerry::worker {
namespace {

JobDataOptions DataOptions(const JobEnvironment& environment) {
  return {.cache = environment.data_cache,
          .server = environment.data_server,
          .places = environment.places,
          .loop = environment.loop,
          .ask = [&loop = environment.loop, &bulk = environment.bulk](
                     const std::string& worker, const PieceKey& key,
                     transport::BulkTransport::FetchDone done) {
            loop.Post([&bulk, worker, key, done = std::move(done)]() mutable {
              bulk.Fetch(worker, key, std::move(done));
            });
          }};
}

TrainerSeamOptions SeamOptions(const JobEnvironment& environment,
                               const protocol::JobOrders& orders,
                               const std::string& folder) {
  const Sequence restored = RestoredAt(orders);
  return {.island = {.job = orders.job,
                     .peers = environment.peers,
                     .host = environment.host,
                     .address = environment.island_address},
          .spec = orders.spec,
          .trainer_command = environment.trainer_command,
          .attach_command = environment.attach_command,
          .programs = environment.programs,
          .folder = folder,
          .run_directory = environment.run_directory,
          // The trainer of before a restore may still be on its way out.
          .name = absl::StrCat(environment.worker, "-", getpid(), "-",
                               orders.job.value(), "-", restored.value())};
}

JobPorts MakePorts(const JobEnvironment& environment,
                   const protocol::JobOrders& orders,
                   const SeatAnswers& answers, JobListener& listener) {
  const std::string folder =
      PathOf(environment.state_directory, {orders.job, orders.uid});
  JobPorts ports;
  ports.folder = std::make_unique<JobDisk>(
      folder, environment.files, environment.disk, answers,
      [&listener] { listener.OnFolderGone(); });
  auto inner = std::make_unique<InnerStore>(
      folder, RestoredAt(orders), environment.files, environment.inner,
      environment.loop,
      [&places = environment.places, &files = environment.files](
          const InnerSource& from, const std::string& path) {
        return FetchInner(from, path, places, files);
      },
      [&listener] { listener.OnInnerKept(); });
  ports.trainer = std::make_unique<TrainerSeam>(
      SeamOptions(environment, orders, folder), answers, *inner, listener);
  ports.inner = std::move(inner);
  ports.data = std::make_unique<JobData>(
      orders.job, orders.spec, DataOptions(environment),
      [&listener](const absl::Status& outcome) { listener.OnData(outcome); },
      [&listener] { listener.OnDataNews(); });
  ports.checkpoints = std::make_unique<CheckpointPlaces>(
      CheckpointPlacesOptions{.job = orders.job,
                              .spec = orders.spec,
                              .worker = environment.worker,
                              .places = environment.places,
                              .files = environment.files,
                              .loop = environment.loop,
                              .disk = environment.disk,
                              .save = environment.save});
  ports.peers =
      std::make_unique<JobPeerPort>(orders.job, environment.peers, answers);
  return ports;
}

}  // namespace

JobMachine MachineOf(const JobEnvironment& environment) {
  return {.loop = environment.loop,
          .compute = environment.compute,
          .bulk = environment.bulk,
          .directory = environment.directory,
          .worker = environment.worker,
          .times = {.ended_idle = environment.ended_idle},
          .make_ports =
              [environment](const protocol::JobOrders& orders,
                            const SeatAnswers& answers, JobListener& listener) {
                return MakePorts(environment, orders, answers, listener);
              },
          .after_sleep = runtime::ReturnFreeHeap};
}

}  // namespace skerry::worker
