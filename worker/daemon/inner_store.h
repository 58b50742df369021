// worker/daemon/inner_store.h
//
// Keeps the inner state that a job's trainer saved last as a file in the job's
// folder (docs/formats/inner_state.md).
#ifndef SKERRY_WORKER_DAEMON_INNER_STORE_H_
#define SKERRY_WORKER_DAEMON_INNER_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/shared_bytes.h"
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
  // it went back is of another history. `changed` runs when busy() has become
  // false. `files`, `executor` and `loop` outlive the object, and every task
  // that it has given to the executor.
  InnerStore(const std::string& directory, Sequence restored,
             runtime::Files& files, runtime::Executor& executor,
             runtime::EventLoop& loop, absl::AnyInvocable<void()> changed);

  // Removes what an interrupted save or another history has left. Blocks.
  absl::Status Tidy();

  const std::string& path() const { return path_; }
  bool is_there() const;
  // Where the trainer writes the next one.
  const std::string& next_path() const { return next_path_; }
  // Whether what was written there is being made durable. Nothing is written
  // there then.
  bool busy() const { return busy_; }
  // Makes what is there, the state at this sequence, durable and gives it its
  // name.
  void Keep(uint64_t sequence);
  // What was kept last, if that is the state at this sequence. The bytes stay
  // as they are when the next one takes its place. Errors: NotFound, with a
  // text that says which state there is.
  absl::StatusOr<SharedBytes> Open(uint64_t sequence) const;

  // Has `copy` write a state that comes from elsewhere to the path that it is
  // given, as if it had been saved here. `done` runs on the loop with what
  // `copy` has answered, unless this object is gone by then.
  using Copy = absl::AnyInvocable<absl::Status(const std::string& path) &&>;
  void Import(Copy copy, absl::AnyInvocable<void(absl::Status) &&> done);
  // Says why there is no state, for operators.
  const std::string& why_none() const { return why_none_; }
  void set_why_none(std::string why) { why_none_ = std::move(why); }

 private:
  const std::string directory_;
  const std::string path_;
  const std::string next_path_;
  runtime::Files& files_;
  runtime::Executor& executor_;
  runtime::EventLoop& loop_;
  absl::AnyInvocable<void()> changed_;
  bool busy_ = false;
  // The sequence of the last state that was kept in the life of this process.
  std::optional<uint64_t> kept_;
  std::string why_none_ = "this worker has saved none";
  // Answers that come after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_INNER_STORE_H_
