// worker/main/options.h
//
// Parses the command line of skerry-worker.
#ifndef SKERRY_WORKER_MAIN_OPTIONS_H_
#define SKERRY_WORKER_MAIN_OPTIONS_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "runtime/log.h"
#include "runtime/posix/cpu_limit.h"
#include "transport/grpc/credentials.h"
#include "worker/core/preemption/source_spec.h"
#include "worker/core/state_folders.h"
#include "worker/daemon/data_fetches.h"
#include "worker/main/trainers.h"

namespace skerry::worker {

struct CommandLine {
  std::string name;
  std::string island;
  std::string coordinator;
  std::string listen;
  // In order of preference; empty: where it listens.
  std::vector<std::string> advertise;
  // Empty: the host at which workers of its island reach it, if they do.
  std::string island_address;
  bool shared_memory_only = false;
  bool outbound_only = false;
  bool relay = false;
  // None: plaintext.
  std::optional<transport::CredentialFiles> identity;
  // How it joins a cluster when it has no certificate; empty: it does not.
  std::string ca_pin;
  std::string join_token_file;
  std::string state_directory;
  std::string run_directory;
  Trainers trainers;
  // Processors of a machine with GPUs are mostly idle; without one the trainer
  // needs them.
  int codec_threads = std::clamp(runtime::UsableCpus() / 4, 1, 8);
  absl::Duration drain_timeout;
  // Where preemption notices come from; empty: nobody gives any.
  std::vector<NoticeSourceSpec> notice_sources;
  std::string metadata_endpoint = kMetadataEndpoint;
  absl::Duration preemption_lead;
  absl::Duration ended_idle;
  EndedRetention retention;
  uint64_t data_cache_bytes = kDataCacheBytes;
  std::string port_file;
  std::string admin;  // empty: none
  std::string admin_port_file;
  runtime::Severity log_level = runtime::Severity::kInfo;
};

// What to do after reading the command line.
struct ParsedCommandLine {
  CommandLine command_line;
  // Set when the process should end now, with this code.
  bool exit = false;
  int exit_code = 0;
};

// Prints help, the version or a one-line error itself.
ParsedCommandLine ParseCommandLine(int argc, char** argv);

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_MAIN_OPTIONS_H_
