// trainer/attach/service/rank_host.h
//
// Runs the ranks of a training program: starts their processes, carries lines
// and output, and ends them all when one ends.
#ifndef SKERRY_TRAINER_ATTACH_SERVICE_RANK_HOST_H_
#define SKERRY_TRAINER_ATTACH_SERVICE_RANK_HOST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/instant.h"
#include "google/protobuf/message.h"
#include "runtime/posix/monotonic_clock.h"
#include "runtime/posix/mutex.h"
#include "trainer/attach/core/rank_line.h"
#include "trainer/attach/core/rank_set.h"
#include "trainer/attach/service/control_page.h"
#include "trainer/attach/service/rank_process.h"
#include "trainer/core/trainer.h"

namespace skerry::trainer::attach {

struct RankHostOptions {
  // The program and its arguments.
  std::vector<std::string> argv;
  int ranks = 1;
  // A folder that is there.
  std::string log_directory;
  // The value of SKERRY_JOB.
  std::string job_json;
  RankTimes times;
  std::function<Instant()> now = runtime::MonotonicNow;
};

// One thread carries everything, and is the parent of the ranks. Start, Call
// and Exit are called by one other thread, which waits for their end.
class RankHost {
 public:
  // Starts the program and waits until every rank has said hello. Codes: those
  // of a program that cannot be started or of files that cannot be opened;
  // Aborted when `stop` became true; Internal with a rank's reason when it
  // ended or did not speak as it should.
  static absl::StatusOr<std::unique_ptr<RankHost>> Start(
      RankHostOptions options, StopRequested stop);
  // Ends the ranks at once, and returns when they have ended.
  ~RankHost();
  RankHost(const RankHost&) = delete;
  RankHost& operator=(const RankHost&) = delete;

  // Sends a call to all ranks and returns their bodies in order. While it waits
  // it asks `stop`, which makes the ranks end the call with Aborted, and tells
  // `on_steps` how many inner steps there have been since the start. Codes:
  // what a rank answered; Internal when the ranks have failed, after which no
  // process is left; InvalidArgument when the call is too long.
  absl::StatusOr<std::vector<std::string>> Call(
      attach::Call call, const google::protobuf::Message& body,
      StopRequested stop, absl::FunctionRef<void(uint64_t steps)> on_steps);

  // Ends the ranks because what they answered is wrong. Returns Internal, with
  // the reason, as every later call does.
  absl::Status Refuse(const absl::Status& why);

  // Lets the program end by itself, and returns when no process is left.
  void Exit();

  // Inner steps since the start. Any thread.
  uint64_t steps();

 private:
  RankHost(RankHostOptions options, std::unique_ptr<ControlPage> page,
           int wake_fd);

  absl::Status StartThread();
  void Main();
  absl::Status StartRanks();
  // Waits for something to happen, and lets it happen.
  void Turn(bool has_deadline);
  RankProcess::Heard ReadLines(RankProcess& rank);
  // Returns whether the next line is wanted.
  bool OnLine(RankProcess& rank, std::string_view line);
  void Reap(RankProcess& rank);
  void SendNudges(const std::vector<Nudge>& nudges);
  void LogFailure();

  // Waits until the thread is done.
  void AwaitEnd() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Has the thread look at what has changed.
  void Wake();
  Instant Now() const { return options_.now(); }

  const RankHostOptions options_;
  const std::unique_ptr<ControlPage> page_;
  const int wake_fd_;

  // Filled before `has_started_`. Touched by the thread alone, but for what
  // they send; with the mutex they send and disconnect.
  std::vector<std::unique_ptr<RankProcess>> ranks_;

  runtime::Mutex mutex_;
  runtime::CondVar changed_;
  RankSet set_ ABSL_GUARDED_BY(mutex_);
  absl::Status started_ ABSL_GUARDED_BY(mutex_);
  bool has_started_ ABSL_GUARDED_BY(mutex_) = false;
  // No process is left, and its reason is logged.
  bool is_done_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_SERVICE_RANK_HOST_H_
