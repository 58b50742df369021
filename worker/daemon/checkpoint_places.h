// worker/daemon/checkpoint_places.h
//
// Reads and saves the checkpoints of one job where they are: in folders and in
// object stores.
#ifndef SKERRY_WORKER_DAEMON_CHECKPOINT_PLACES_H_
#define SKERRY_WORKER_DAEMON_CHECKPOINT_PLACES_H_

#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "job/job_spec.h"
#include "runtime/blob_stores.h"
#include "runtime/event_loop.h"
#include "runtime/executor.h"
#include "runtime/files.h"
#include "worker/shell/job_ports.h"

namespace skerry::worker {

struct CheckpointPlacesOptions {
  JobId job;
  job::JobSpec spec;
  std::string worker;
  runtime::BlobStores& places;
  runtime::Files& files;
  runtime::EventLoop& loop;
  // Runs reads.
  runtime::Executor& disk;
  // Runs checks of folders and saves, which may take long.
  runtime::Executor& save;
};

// Members are called on the loop. What the options refer to outlives all tasks.
class CheckpointPlaces final : public CheckpointPort {
 public:
  explicit CheckpointPlaces(CheckpointPlacesOptions options);

  void ReadBase(
      const job::JobSpec& spec,
      absl::AnyInvocable<void(absl::StatusOr<StartingBase>) &&> done) override;
  void Save(StateToSave state, StateSaver::Written done) override;
  void CheckFolder(absl::AnyInvocable<void(absl::Status) &&> done) override;

 private:
  const CheckpointPlacesOptions options_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_DAEMON_CHECKPOINT_PLACES_H_
