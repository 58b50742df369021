// worker/daemon/programs.h
//
// Knows the training programs that this worker's operator allows jobs to run:
// which file each name stands for, and the hash of that file. A job names a
// program and perhaps its hash. It never names a file.
#ifndef SKERRY_WORKER_DAEMON_PROGRAMS_H_
#define SKERRY_WORKER_DAEMON_PROGRAMS_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "job/job_spec.h"
#include "protocol/program_fact.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"

namespace skerry::worker {

struct AllowedProgram {
  std::string name;
  std::string file;
};

// Members are called on the loop, and so are the handlers.
class Programs {
 public:
  // Reads all files at once; may be called before the loop runs. `reader` may
  // be held up by a disk that hangs. All borrowed things outlive this object,
  // `files` also every task that it has given to the reader.
  Programs(std::vector<AllowedProgram> allowed, runtime::Files& files,
           runtime::EventLoop& loop, runtime::Executor& reader);

  // Looks at the files every two seconds from now on. Reads those whose size or
  // time has changed. `changed` runs when Facts() says something new.
  void KeepLooking(absl::AnyInvocable<void()> changed);
  std::vector<protocol::ProgramFact> Facts() const;

  // Looks at the file that the job's program stands for. Answers with its path.
  // Errors: NotFound, for people: the program is not allowed here, cannot be
  // read, or is not the one with the hash that the job names.
  using Found = absl::AnyInvocable<void(absl::StatusOr<std::string>) &&>;
  void Find(const job::JobSpec::Program& wanted, Found found);

 private:
  // What a file was when it was last read.
  struct Seen {
    uint64_t bytes = 0;
    std::filesystem::file_time_type written;
    std::string sha256;
    // Why it cannot be read; empty while it can.
    std::string error;
  };
  struct One {
    AllowedProgram allowed;
    Seen seen;
  };

  // Returns what the file is now. Any thread.
  static Seen LookAt(const std::string& file, const Seen& before,
                     runtime::Files& files);
  // Looks at program `index`; then `then` runs.
  void Look(size_t index, absl::AnyInvocable<void() &&> then);
  void LookLater();
  static absl::StatusOr<std::string> Check(const One& one,
                                           const job::JobSpec::Program& wanted);

  std::vector<One> all_;
  runtime::Files& files_;
  runtime::EventLoop& loop_;
  runtime::Executor& reader_;
  absl::AnyInvocable<void()> changed_;
  // Tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_PROGRAMS_H_
