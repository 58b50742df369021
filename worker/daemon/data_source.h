// worker/daemon/data_source.h
//
// Gives the files of one data set to a worker that lacks them. Several origins
// may have them: an object store is one, and each worker that has the set is.
#ifndef SKERRY_WORKER_DAEMON_DATA_SOURCE_H_
#define SKERRY_WORKER_DAEMON_DATA_SOURCE_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "runtime/blob_stores.h"
#include "runtime/files.h"
#include "worker/daemon/data_files.h"

namespace skerry::worker {

// Any thread calls. Reads may block.
class DataSource {
 public:
  virtual ~DataSource() = default;

  // Who has the files now, in the order in which to ask.
  virtual std::vector<std::string> Origins() const = 0;
  // Gives the bytes of one file to `take`, in order, piece by piece. Only name
  // and number of `file` count. Ends with the first error of `take`. Errors
  // also: those of the origin; Cancelled after Drop().
  virtual absl::Status Read(
      const std::string& origin, const DataFile& file,
      absl::FunctionRef<absl::Status(runtime::ByteSpan piece)> take) = 0;
  // Makes an error of a file of that origin say whose it is.
  virtual absl::Status Named(const std::string& origin,
                             const absl::Status& error) const = 0;
  // The origin did not give a file, or gave another one. It is asked last from
  // now on.
  virtual void OnFailed(const std::string& origin,
                        const absl::Status& error) = 0;
  // Nobody wants the files any more. Reads end soon.
  virtual void Drop() = 0;
};

// The set at `place` (runtime/blob_stores.h).
class StoreSource final : public DataSource {
 public:
  // `places` outlives it.
  StoreSource(std::string place, runtime::BlobStores& places);

  std::vector<std::string> Origins() const override { return {place_}; }
  absl::Status Read(
      const std::string& origin, const DataFile& file,
      absl::FunctionRef<absl::Status(runtime::ByteSpan piece)> take) override;
  absl::Status Named(const std::string&,
                     const absl::Status& error) const override {
    return error;
  }
  void OnFailed(const std::string&, const absl::Status&) override {}
  void Drop() override {}

 private:
  const std::string place_;
  runtime::BlobStores& places_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_DATA_SOURCE_H_
