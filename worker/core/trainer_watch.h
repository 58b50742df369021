// worker/core/trainer_watch.h
//
// Decides when a trainer that makes no progress has to be ended. Either its
// process is stopped and answers nothing, or it answers while its work stands
// still (a hung kernel). How long either may last is learned from the trainer's
// own steps.
//
// The bar is max(10 s, 8 x the longest of the last hundred steps) from the
// moment the trainer stops to the start of the next one. Of that, two seconds
// and a step are left to end the old process and to start the new one.
#ifndef SKERRY_WORKER_CORE_TRAINER_WATCH_H_
#define SKERRY_WORKER_CORE_TRAINER_WATCH_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "base/instant.h"

namespace skerry::worker {

enum class TrainerPhase {
  kIdle,  // between two calls
  kBuilding,
  kTraining,
  kCopying,  // between its live values and the shared memory
  kJoining,  // its island's group
  kEvaluating,
  kGenerating,
};

// What a trainer says of the call in progress.
struct TrainerProgress {
  TrainerPhase phase = TrainerPhase::kIdle;
  // Rises with every piece of work: a shard read, a batch, a step, a token.
  uint64_t pieces = 0;
  // Inner steps since its process started, and the longest of the last hundred.
  uint64_t steps = 0;
  absl::Duration longest_step = absl::ZeroDuration();
  // It waits for other trainers of its island, and is not to blame.
  bool waits_for_group = false;
  friend bool operator==(const TrainerProgress&,
                         const TrainerProgress&) = default;
};

struct TrainerWatchOptions {
  absl::Duration least = absl::Seconds(8);
  double longest_steps = 7;
  // Time for a piece of work before the first step shows how long one takes,
  // and for the first answer of a process: reading a large shard, building a
  // model, importing a framework, compiling kernels.
  absl::Duration unknown = absl::Minutes(10);
  // Time for a copy, or for joining a group, which have no pieces.
  absl::Duration copy = absl::Minutes(1);
  // Time between two questions to the trainer.
  absl::Duration interval = absl::Milliseconds(500);
};

// Watches one process of a trainer. It is told every answer, and asked once an
// interval.
class TrainerWatch {
 public:
  // `longest_step` is that of the trainer before, zero when there was none.
  TrainerWatch(const TrainerWatchOptions& options, Instant started,
               absl::Duration longest_step = absl::ZeroDuration());

  void OnProgress(Instant now, const TrainerProgress& progress);
  // The trainer has answered another call, so it can answer questions too.
  void OnAnswer(Instant now);
  // The trainer answers, and does not know the question: only its silence is
  // watched.
  void OnUnknown(Instant now);

  // Looks whether the trainer goes on. Returns why it has to be ended, in words
  // for operators; empty while it has not. A worker that was stopped itself, so
  // that it looks late, blames nobody.
  std::string Look(Instant now);

  // Says what is wrong if a third of the time that Look() allows has passed
  // without a sign. Empty while nothing is wrong.
  std::string Trouble(Instant now) const;

  // The longest of the last hundred steps. Before the trainer's first step,
  // what the constructor was given.
  absl::Duration longest_step() const { return longest_step_; }
  // How long a trainer may wait for the others of its island. This is longer
  // than Look() allows the trainer that they all wait for, so only that one is
  // ended.
  absl::Duration GroupTimeout() const;

 private:
  struct Lateness {
    absl::Duration late;
    absl::Duration allowed;
    bool silent = false;
  };
  absl::Duration OfSteps() const;
  absl::Duration AllowedForPiece() const;
  // Returns the trainer's silence or its standstill, whichever is closer to
  // what is allowed.
  Lateness Judge(Instant now) const;
  std::string TextOf(const Lateness& lateness) const;

  const TrainerWatchOptions options_;
  absl::Duration longest_step_;
  TrainerProgress progress_{.phase = TrainerPhase::kBuilding};
  bool answered_ = false;
  Instant heard_;  // when it last answered
  Instant moved_;  // when its work last went on
  Instant looked_;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_TRAINER_WATCH_H_
