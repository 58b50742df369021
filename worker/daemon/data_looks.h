// worker/daemon/data_looks.h
//
// Looks at the data sets and checkpoint folders that the coordinator asks
// about, so that a job with the wrong data is refused before it begins.
#ifndef SKERRY_WORKER_DAEMON_DATA_LOOKS_H_
#define SKERRY_WORKER_DAEMON_DATA_LOOKS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/any_invocable.h"
#include "job/data_facts.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"

namespace skerry::worker {

// Members are called on the loop, and so is the handler.
class DataLooks {
 public:
  // `changed` is called when Facts() says something new. `reader` may be held
  // up by a disk that hangs. It and `loop` outlive this object.
  DataLooks(runtime::EventLoop& loop, runtime::Executor& reader,
            absl::AnyInvocable<void()> changed);

  // Looks at each of the paths now and every two seconds until another call
  // leaves it out.
  void OnPaths(const std::vector<std::string>& paths);
  // What has been found so far, by path.
  std::vector<job::DataFacts> Facts() const;

 private:
  void Look(const std::string& path);
  void KeepLooking();

  runtime::EventLoop& loop_;
  runtime::Executor& reader_;
  absl::AnyInvocable<void()> changed_;
  struct Found {
    // Empty until the disk has been read once.
    std::optional<job::DataFacts> facts;
    bool reading = false;
  };
  absl::btree_map<std::string, Found> found_;
  bool looking_ = false;
  // Tasks that run after this object is gone see it expired.
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_DATA_LOOKS_H_
