// worker/daemon/data_server.h
//
// Looks at data sets on this worker's disk, and reads their files for other
// workers, without holding up the loop.
#ifndef SKERRY_WORKER_DAEMON_DATA_SERVER_H_
#define SKERRY_WORKER_DAEMON_DATA_SERVER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "transport/bulk.h"
#include "worker/daemon/data_files.h"

namespace skerry::worker {

// Members are called on the loop, and so are the handlers. What it is made with
// outlives it and every task that it has given to the reader.
class DataServer {
 public:
  // `reader` may be held up by a disk that hangs.
  DataServer(const runtime::Files& files, runtime::Executor& reader,
             runtime::EventLoop& loop);

  // Looks whether `folder` has the set. `done` gets what FindDataSet returns.
  using Found = absl::StatusOr<std::vector<DataFile>>;
  void Find(const std::string& folder, const std::string& manifest_sha256,
            absl::AnyInvocable<void(Found) &&> done);

  // Reads the chunk at `offset` of the file, which has to have `bytes` in all.
  // Errors: those of ReadRange; OutOfRange, the offset is behind the end;
  // DataLoss, the file has another length; Unavailable, as many chunks are in
  // memory as may be, and the other worker asks again.
  void Read(const std::string& path, uint64_t bytes, uint64_t offset,
            transport::BulkReceiver::FetchAnswer answer);

  // Chunks in memory, because they are being read or sent: 128 MiB.
  static constexpr int kChunksMax = 16;

 private:
  const runtime::Files& files_;
  runtime::Executor& reader_;
  runtime::EventLoop& loop_;
  // Shared with the chunks that are being sent.
  const std::shared_ptr<std::atomic<int>> chunks_ =
      std::make_shared<std::atomic<int>>(0);
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_DATA_SERVER_H_
