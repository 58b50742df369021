// worker/daemon/inner_store.h
//
// Keeps the inner state that a job's trainer saved last as a file in the job's
// folder (docs/formats/inner_state.md).
#ifndef SKERRY_WORKER_DAEMON_INNER_STORE_H_
#define SKERRY_WORKER_DAEMON_INNER_STORE_H_

#include <cstdint>
#include <functional>
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
#include "worker/shell/job_ports.h"

namespace skerry::worker {

// Whether a file of a job's folder is an inner state, or was to become one.
bool IsInnerFile(const std::string& name);

// Members are called on the loop.
class InnerStore final : public InnerPort {
 public:
  // `restored`: the state that the job has gone back to. What was saved before
  // it went back is of another history. `fetch` copies a state to the path that
  // it is given; it blocks. `changed` runs when busy() has become false.
  // `files`, `executor` and `loop` outlive the object, and every task that it
  // has given to the executor.
  using Fetch =
      std::function<absl::Status(const InnerSource&, const std::string& path)>;
  InnerStore(const std::string& directory, Sequence restored,
             runtime::Files& files, runtime::Executor& executor,
             runtime::EventLoop& loop, Fetch fetch,
             absl::AnyInvocable<void()> changed);

  absl::Status Tidy() override;

  const std::string& path() const { return path_; }
  bool is_there() const override;
  // Where the trainer writes the next one.
  const std::string& next_path() const { return next_path_; }
  // Nothing is written there while this holds.
  bool busy() const override { return busy_; }
  // Makes what is there, the state at this sequence, durable and gives it its
  // name.
  void Keep(uint64_t sequence);
  absl::StatusOr<SharedBytes> Open(uint64_t sequence) const override;

  // The state counts as if it had been saved here.
  void Import(const InnerSource& from,
              absl::AnyInvocable<void(absl::Status) &&> done) override;
  const std::string& why_none() const { return why_none_; }
  void SetWhyNone(const std::string& why) override { why_none_ = why; }

 private:
  const std::string directory_;
  const std::string path_;
  const std::string next_path_;
  runtime::Files& files_;
  runtime::Executor& executor_;
  runtime::EventLoop& loop_;
  const Fetch fetch_;
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
