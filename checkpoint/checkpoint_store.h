// checkpoint/checkpoint_store.h
//
// Stores a job's checkpoints in a blob store. A checkpoint counts only if it is
// whole and its hashes fit.
#ifndef SKERRY_CHECKPOINT_CHECKPOINT_STORE_H_
#define SKERRY_CHECKPOINT_CHECKPOINT_STORE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checkpoint/manifest.h"
#include "runtime/blob_store.h"

namespace skerry::checkpoint {

// "checkpoint-120": the folder of the checkpoint at that sequence.
std::string CheckpointName(uint64_t sequence);

// What lies under a checkpoint's name.
struct Listed {
  std::string name;
  uint64_t sequence = 0;
  // OK: there is a manifest, and `manifest` is its content. NotFound: it was
  // never finished. Otherwise why the manifest cannot be believed.
  absl::Status status;
  Manifest manifest;
};

// Writes one checkpoint, file by file, so that no more than one is in memory.
// Until Seal returns OK it does not count. `blobs` outlives it.
class CheckpointWriter {
 public:
  absl::Status Add(const std::string& file, runtime::ByteSpan bytes);
  // Writes the manifest: the last act.
  absl::Status Seal();

 private:
  friend class CheckpointStore;
  CheckpointWriter(runtime::BlobStore& blobs, Manifest manifest);

  runtime::BlobStore* blobs_;
  Manifest manifest_;
};

// Only one writer may run at a time. Blobs that are not under a checkpoint's
// name are neither read nor changed. Errors that are not named are the blob
// store's.
class CheckpointStore {
 public:
  // `blobs` outlives the store.
  explicit CheckpointStore(runtime::BlobStore& blobs) : blobs_(blobs) {}

  // Starts the checkpoint of job and sequence that `about` names; its files are
  // ignored. What an interrupted writer left there is removed.
  //
  // Errors: AlreadyExists when it is there and finished; FailedPrecondition
  // when the store has checkpoints of another job.
  absl::StatusOr<CheckpointWriter> Begin(Manifest about);

  // Checks whether a checkpoint of the job that `about` names could be begun:
  // the folder can be written, and has checkpoints of no other job. `writer`
  // names the caller, as a part of a key. Leaves nothing behind but the folder.
  //
  // Errors: FailedPrecondition when the store has checkpoints of another job.
  absl::Status CheckUsable(const Manifest& about, const std::string& writer);

  // All of them, by sequence.
  absl::StatusOr<std::vector<Listed>> List() const;

  // The manifest of a finished one. Errors: NotFound; as Listed.
  absl::StatusOr<Manifest> Find(const std::string& name) const;

  // A file of a finished checkpoint. Errors: DataLoss when it is missing or is
  // not what the manifest says.
  absl::StatusOr<std::vector<std::byte>> Read(const std::string& name,
                                              const CheckpointFile& file) const;

  // Gives the file's bytes to `take` in order, piece by piece, for files of any
  // size. Ends with the first error of `take`. Errors: as Read, and what was
  // given before may be wrong then.
  absl::Status Stream(
      const std::string& name, const CheckpointFile& file,
      absl::FunctionRef<absl::Status(runtime::ByteSpan piece)> take) const;

  // Reads everything, piece by piece. Errors: DataLoss, naming the first file
  // that is missing or differs; NotFound.
  absl::Status Verify(const std::string& name) const;

  // Removes all finished checkpoints but the newest `count`, and what
  // interrupted writers left below the newest finished one. Returns the names.
  // It never removes the last finished one, those that `pinned` names, and
  // those with a blob of that name beside their files. A manifest goes first,
  // so that a half-removed checkpoint does not count.
  absl::StatusOr<std::vector<std::string>> KeepNewest(
      size_t count, const std::vector<std::string>& pinned = {});

 private:
  absl::StatusOr<Manifest> ReadManifest(const std::string& name) const;
  absl::Status Remove(const std::string& name);

  runtime::BlobStore& blobs_;
};

}  // namespace skerry::checkpoint

#endif  // SKERRY_CHECKPOINT_CHECKPOINT_STORE_H_
