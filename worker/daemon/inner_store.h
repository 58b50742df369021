// worker/daemon/inner_store.h
//
// Keeps the inner state that a job's trainer saved last as a file in the job's
// folder (docs/formats/inner_state.md).
#ifndef SKERRY_WORKER_DAEMON_INNER_STORE_H_
#define SKERRY_WORKER_DAEMON_INNER_STORE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/ids.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"

namespace skerry::worker {

// Whether a file of a job's folder is an inner state, or was to become one.
bool IsInnerFile(const std::string& name);

// Members are called on the loop.
class InnerStore {
 public:
  // `restored`: the state that the job has gone back to. What was saved before
  // it went back is of another history. `files`, `executor` and `loop` outlive
  // the object, and every task that it has given to the executor.
  InnerStore(const std::string& directory, Sequence restored,
             runtime::Files& files, runtime::Executor& executor,
             runtime::EventLoop& loop);

  // Removes what an interrupted save or another history has left. Blocks.
  absl::Status Tidy();

  const std::string& path() const { return path_; }
  bool is_there() const;
  // Where the trainer writes the next one.
  const std::string& next_path() const { return next_path_; }
  // Whether what was written there is being made durable. Nothing is written
  // there then.
  bool busy() const { return busy_; }
  // Makes what is there durable and gives it its name.
  void Keep();

 private:
  const std::string directory_;
  const std::string path_;
  const std::string next_path_;
  runtime::Files& files_;
  runtime::Executor& executor_;
  runtime::EventLoop& loop_;
  bool busy_ = false;
  // Answers that come after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_INNER_STORE_H_
