// worker/daemon/ahead_file.h
//
// Writes a store file piece by piece while others of its pieces are still on
// their way, so that the disk and the network work at the same time. The file
// gets its name only when it is whole (runtime/files.h).
#ifndef SKERRY_WORKER_DAEMON_AHEAD_FILE_H_
#define SKERRY_WORKER_DAEMON_AHEAD_FILE_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "base/shared_bytes.h"
#include "runtime/files.h"
#include "worker/core/effects.h"

namespace skerry::worker {

// All members but the constructor may block. Destroying it without a Finish()
// that returned true leaves nothing on the disk.
class AheadFile {
 public:
  // `file` has its spans, and need not have their hashes. `files` outlives the
  // object.
  AheadFile(runtime::Files& files, std::string path, StoredFile file)
      : files_(files), path_(std::move(path)), file_(std::move(file)) {}

  // Writes the content of piece `index` once all pieces before it are written.
  void Put(size_t index, const SharedBytes& content);
  // Writes what is left and gives the file its name. Returns true when the file
  // is durable with exactly these contents, and false when it has to be written
  // anew. `file` has the hashes. Called once.
  bool Finish(const StoredFile& file, std::span<const SharedBytes> contents);

 private:
  absl::Status Append(const SharedBytes& content);
  absl::Status FinishOrFail(const StoredFile& file,
                            std::span<const SharedBytes> contents);

  runtime::Files& files_;
  const std::string path_;
  const StoredFile file_;
  // Null before the first piece, and after a failure.
  std::unique_ptr<runtime::ByteSink> sink_;
  bool has_failed_ = false;
  std::vector<SharedBytes> written_;  // the first pieces
  absl::btree_map<size_t, SharedBytes> waiting_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_AHEAD_FILE_H_
