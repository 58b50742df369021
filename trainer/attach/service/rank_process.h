// trainer/attach/service/rank_process.h
//
// One process of a training program, with its connection and its output.
#ifndef SKERRY_TRAINER_ATTACH_SERVICE_RANK_PROCESS_H_
#define SKERRY_TRAINER_ATTACH_SERVICE_RANK_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "trainer/attach/core/line_splitter.h"
#include "trainer/attach/core/rank_set.h"
#include "trainer/attach/service/rank_log.h"

namespace skerry::trainer::attach {

struct RankSpec {
  int rank = 0;
  std::vector<std::string> argv;
  // NAME=value, beside SKERRY_FD and SKERRY_CONTROL_FD.
  std::vector<std::string> environment;
  int control_fd = -1;
  std::string log_directory;
};

// One thread uses an object and outlives it, or the kernel kills the process.
// Nothing here waits, but for Start, which returns when the program runs.
class RankProcess {
 public:
  static absl::StatusOr<std::unique_ptr<RankProcess>> Start(
      const RankSpec& spec);
  // Kills the process if it has not ended.
  ~RankProcess();
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  int rank() const { return rank_; }
  pid_t pid() const { return pid_; }
  const RankLog& log() const { return *log_; }

  // For poll; -1 when there is nothing to wait for.
  int socket() const { return socket_; }
  int output() const { return output_; }
  // Becomes readable when the process ends; -1 where the kernel has no such
  // descriptor.
  int end_fd() const { return end_fd_; }

  // Signals the process, and those that it has started with `whole_group`.
  void Signal(int signal, bool whole_group = true);

  // What has been read of the connection; kEnd: nothing more will come.
  enum class Heard { kNothing, kSome, kEnd };
  // Reads at most one piece and hands its lines, without line feeds, to
  // `on_line` while that returns true. A line that is longer than a line may be
  // is handed on as it is.
  Heard ReadLines(absl::FunctionRef<bool(std::string_view line)> on_line);
  // The connection is of no use any more.
  void Disconnect();
  // Takes `line` to be sent, and sends what can be.
  void Send(std::string_view line);
  void SendMore();
  bool has_more_to_send() const { return !to_send_.empty(); }

  // Carries what the rank has printed to its log. Returns whether there may be
  // more.
  bool ReadOutput();

  // How the process ended, once it has. Whatever it has started is killed, and
  // the rest of its output is read.
  std::optional<RankEnd> Reap();

 private:
  RankProcess(int rank, std::unique_ptr<RankLog> log)
      : rank_(rank), log_(std::move(log)), lines_(kLineBytesMax) {}

  const int rank_;
  const std::unique_ptr<RankLog> log_;
  LineSplitter lines_;
  std::string to_send_;
  pid_t pid_ = -1;  // until it is reaped
  int socket_ = -1;
  int output_ = -1;
  int end_fd_ = -1;
};

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_SERVICE_RANK_PROCESS_H_
