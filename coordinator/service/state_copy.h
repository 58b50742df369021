// coordinator/service/state_copy.h
//
// Reads the state folder of a coordinator that is stopped. It changes nothing
// in the folder and needs no right to write there.
#ifndef SKERRY_COORDINATOR_SERVICE_STATE_COPY_H_
#define SKERRY_COORDINATOR_SERVICE_STATE_COPY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "coordinator/core/cluster.h"
#include "coordinator/core/views/events.h"
#include "coordinator/service/journal_file.h"

namespace skerry::coordinator {

// A copy of the folder's files in a temporary folder, which is removed with the
// object. Errors name the folder that was copied.
class StateCopy {
 public:
  // Checks every page of the file. Codes: those of JournalFile, and
  // FailedPrecondition while a coordinator serves from the folder.
  static absl::StatusOr<std::unique_ptr<StateCopy>> Take(
      const std::string& folder);
  ~StateCopy();
  StateCopy(const StateCopy&) = delete;
  StateCopy& operator=(const StateCopy&) = delete;

  JournalFile& file() { return *file_; }

 private:
  explicit StateCopy(std::string folder) : folder_(std::move(folder)) {}

  const std::string folder_;
  std::unique_ptr<JournalFile> file_;
};

struct FoldedJournal {
  Cluster cluster;
  // The events that the snapshot kept.
  EventHistory events;
  // The index of the last record in the snapshot; 0 when there is none.
  uint64_t snapshot_index = 0;
  uint64_t snapshot_bytes = 0;
  // How many records follow the snapshot.
  uint64_t records = 0;
};

// Returns the state that a coordinator would start with. Errors: DataLoss when
// a record or the snapshot cannot be used, naming it; those of JournalFile.
absl::StatusOr<FoldedJournal> FoldJournal(JournalFile& file,
                                          const ClusterOptions& options);

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_STATE_COPY_H_
