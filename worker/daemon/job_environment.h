// worker/daemon/job_environment.h
//
// Gives the shells of a worker's jobs the real machine: files, programs, object
// stores and other workers.
#ifndef SKERRY_WORKER_DAEMON_JOB_ENVIRONMENT_H_
#define SKERRY_WORKER_DAEMON_JOB_ENVIRONMENT_H_

#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/blob_stores.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "transport/bulk.h"
#include "transport/directory.h"
#include "worker/daemon/data_cache.h"
#include "worker/daemon/data_server.h"
#include "worker/daemon/peer_client.h"
#include "worker/daemon/programs.h"
#include "worker/shell/job_machine.h"

namespace skerry::worker {

// What the jobs of a worker share. All of it outlives them.
struct JobEnvironment {
  runtime::EventLoop& loop;
  runtime::Executor& compute;
  runtime::Executor& disk;
  // Runs checks of checkpoint folders and saves, which may take long.
  runtime::Executor& save;
  // Syncs inner states, and brings those of checkpoints here.
  runtime::Executor& inner;
  runtime::Files& files;
  runtime::BlobStores& places;
  // Data sets that lie in object stores and with other workers.
  DataCache& data_cache;
  // Gives data sets to other workers.
  DataServer& data_server;
  transport::BulkTransport& bulk;
  PeerClient& peers;
  // Where the transport and the client find other workers. It learns from
  // orders.
  transport::Directory& directory;
  std::string worker;
  // MachineFacts::host of this machine.
  std::string host;
  // Host name or IP address at which trainers on other hosts of the island
  // reach this worker's; empty: its trainer meets those of its host only.
  std::string island_address;
  std::string state_directory;
  std::string run_directory;
  // Programs with their flags: the trainer of jobs with a config, and that of
  // jobs with a program, which lacks the flags that name it.
  std::vector<std::string> trainer_command;
  std::vector<std::string> attach_command;
  Programs& programs;
  // How long a job that is over keeps its memory, and the trainer that answered
  // a prompt, while nobody uses them.
  absl::Duration ended_idle;
};

JobMachine MachineOf(const JobEnvironment& environment);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_JOB_ENVIRONMENT_H_
