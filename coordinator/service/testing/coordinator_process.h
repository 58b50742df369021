// coordinator/service/testing/coordinator_process.h
//
// Runs a coordinator inside a test, with real gRPC on a free port of this
// machine.
#ifndef SKERRY_COORDINATOR_SERVICE_TESTING_COORDINATOR_PROCESS_H_
#define SKERRY_COORDINATOR_SERVICE_TESTING_COORDINATOR_PROCESS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "coordinator/service/coordinator_server.h"
#include "coordinator/service/journal.h"
#include "coordinator/service/testing/memory_journal.h"
#include "runtime/posix/posix_loop.h"

namespace skerry::coordinator {

// Serves from Start() to Stop(), which the destructor calls.
class CoordinatorProcess {
 public:
  using MakeJournal =
      std::function<std::unique_ptr<Journal>(runtime::EventLoop& loop)>;

  static ServerOptions OnFreePort() {
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    return options;
  }

  // On a journal in memory.
  explicit CoordinatorProcess(MemoryDisk& disk,
                              const ServerOptions& options = OnFreePort())
      : CoordinatorProcess(
            [&disk](runtime::EventLoop& loop) {
              return std::make_unique<MemoryJournal>(disk, loop);
            },
            options) {}
  explicit CoordinatorProcess(const MakeJournal& make_journal,
                              const ServerOptions& options = OnFreePort())
      : loop_("coordinator"),
        journal_(make_journal(loop_)),
        server_(options, loop_, *journal_),
        started_(server_.Start()) {}
  ~CoordinatorProcess() { Stop(); }

  void Stop() {
    if (stopped_) return;
    stopped_ = true;
    server_.Stop();
    loop_.Stop();
  }

  const absl::Status& started() const { return started_; }
  CoordinatorServer& server() { return server_; }
  std::string address() const {
    return absl::StrCat("127.0.0.1:", server_.port());
  }

 private:
  runtime::PosixLoop loop_;
  const std::unique_ptr<Journal> journal_;
  CoordinatorServer server_;
  const absl::Status started_;
  bool stopped_ = false;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_TESTING_COORDINATOR_PROCESS_H_
