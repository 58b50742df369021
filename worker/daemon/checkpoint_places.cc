#include "worker/daemon/checkpoint_places.h"

#include <memory>
#include <utility>

#include "worker/daemon/saved_state.h"
#include "worker/daemon/starting_base.h"

namespace skerry::worker {

CheckpointPlaces::CheckpointPlaces(CheckpointPlacesOptions options)
    : options_(std::move(options)) {}

void CheckpointPlaces::ReadBase(
    const job::JobSpec& spec,
    absl::AnyInvocable<void(absl::StatusOr<StartingBase>) &&> done) {
  options_.disk.Run([spec, &places = options_.places, &files = options_.files,
                     &loop = options_.loop, done = std::move(done)]() mutable {
    loop.Post([base = ReadStartingBase(spec, places, files),
               done = std::move(done)]() mutable {
      std::move(done)(std::move(base));
    });
  });
}

void CheckpointPlaces::Save(StateToSave state, StateSaver::Written done) {
  options_.save.Run([state = std::make_unique<StateToSave>(std::move(state)),
                     &places = options_.places, &files = options_.files,
                     &loop = options_.loop, done = std::move(done)]() mutable {
    CheckpointFact outcome = SaveState(*state, places, files);
    state.reset();
    loop.Post([outcome = std::move(outcome), done = std::move(done)]() mutable {
      std::move(done)(std::move(outcome));
    });
  });
}

void CheckpointPlaces::CheckFolder(
    absl::AnyInvocable<void(absl::Status) &&> done) {
  options_.save.Run([job = options_.job, spec = options_.spec,
                     worker = options_.worker, &places = options_.places,
                     &loop = options_.loop, done = std::move(done)]() mutable {
    loop.Post([usable = CheckCheckpointFolder(job, spec, worker, places),
               done = std::move(done)]() mutable {
      std::move(done)(std::move(usable));
    });
  });
}

}  // namespace skerry::worker
