// tests/sim/schedule.h
//
// A simulation as data: the cluster, its jobs, how links and disks behave, and
// a list of faults. A seed and a profile determine all of it. A shrunk schedule
// has fewer faults. A schedule can be written as text and read back.
#ifndef SKERRY_TESTS_SIM_SCHEDULE_H_
#define SKERRY_TESTS_SIM_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/core/state/options.h"
#include "simulator/network.h"
#include "simulator/setting.h"

namespace skerry::sim {

enum class FaultKind {
  kKill,         // the process on `host`; it starts again after `lasts`
  kPowerLoss,    // the same, and unsynced writes may be torn
  kDiskLoss,     // the same, and its disk comes back empty; drawn only where
                 // jobs are saved
  kTrainerDies,  // on `host`
  kPause,        // the process on `host` stands still for `lasts`
  kCut,          // from `host` to `other`, one way, for `lasts`
  kIsolate,      // `host` from everyone, both ways, for `lasts`
  kFlap,         // the same, on and off every `amount` seconds
  kSlowLink,     // out of `host`, `amount` times as slow for `lasts`
  kSlowDisk,     // of `host`, `amount` times as slow for `lasts`
  kDiskFull,     // of `host`, for `lasts`
  kDiskFails,    // the next sync on `host`
  kClockRate,    // of `host`, `amount` for `lasts`
  kClockLeap,    // of `host`, ahead by `amount` seconds
  kDrain,        // an operator drains `host`, which starts again after `lasts`
  kPreempt,      // a cloud gives `amount` seconds of notice, then takes the
                 // machine for `lasts`
  kCancel,       // an operator cancels job `other`
  kBitRot,       // in a file of `host`; unless jobs are saved, in one of which
                 // another disk has a copy
  kPauseJob,     // an operator holds job `other` for `lasts`
  kMark,         // an operator cordons `host`, or with `amount` 2 drains it,
                 // for `lasts`
  kTwin,         // another process with the name of `host` and a folder of its
                 // own runs for `lasts`
  kFolderGone,   // somebody removes all jobs' folders on `host`; drawn only
                 // where jobs are saved
  kOldJournal,   // the coordinator's journal is copied, and the copy put in its
                 // place after `lasts`; drawn only where jobs are saved
  kTrainerHangs,  // on `host`: it is stopped, or with `amount` 1 it answers and
                  // its work stands still; only its worker's watch ends that
  kStrike,        // as kKill, `amount` seconds after the journal next has what
                  // the moment `other` names
};
inline constexpr int kFaultKindCount = 25;

// The record that a strike waits for. It has just become durable and nobody has
// heard of it yet. The comments say what the record is about.
enum class Moment : uint32_t {
  kAdmitted,   // a life
  kLifeEnded,  // a life
  kGranted,    // samples
  kOpened,     // an attempt
  kCommitted,  // a result
  kTrained,    // the last result of a job
  kEvaluated,  // a state
};
inline constexpr uint32_t kMomentCount = 7;

struct Fault {
  absl::Duration at = absl::ZeroDuration();
  FaultKind kind = FaultKind::kKill;
  HostId host = 0;
  uint32_t other = 0;
  absl::Duration lasts = absl::ZeroDuration();
  double amount = 0;
  friend bool operator==(const Fault&, const Fault&) = default;
};

// As in a text.
std::string FaultName(FaultKind kind);
std::string ToText(const Fault& fault);

struct JobShape {
  std::string method = "local_sgd";
  std::string codec = "raw_f32";
  uint64_t samples = 200;
  uint32_t batch_samples = 4;
  uint32_t tau = 2;
  // outer.apply_points; 0 leaves it out.
  uint32_t apply_points = 0;
  // outer.mix; 0 leaves it out.
  double mix = 0;
  uint32_t spans = 2;
  uint32_t fragments = 1;
  uint64_t elements = 96;
  // The first element that is averaged, as programs may have some; 0 when none
  // is.
  uint64_t average_begin = 0;
  double quorum = 1;
  uint32_t carry = 2;
  uint32_t evaluate_every = 4;
  // Exchanges between two checkpoints; 0 saves none.
  uint32_t checkpoint_every = 0;
  // Number of checkpoints that are kept.
  uint32_t keep = 0;
  // Number of samples in the validation split. If it is 0, there is no split
  // and the job is not evaluated.
  uint64_t validation_samples = 1'000'000;
  // A program trains it, whose initial values differ from worker to worker.
  bool program = false;
  absl::Duration submitted_at;
  // queue.priority.
  int32_t priority = 0;
};

// Which fault classes a profile has; ten profiles switch whole classes off, so
// that single classes are reached in depth.
struct Profile {
  std::string name;
  bool crashes = false;
  bool powers = false;
  bool losses = false;  // of single messages
  bool partitions = false;
  bool pauses = false;
  bool clocks = false;
  bool disks = false;
  bool operators = false;
  // Jobs are saved, and machines go with their disks.
  bool saved = false;
};
const std::vector<Profile>& Profiles();

struct Schedule {
  uint64_t seed = 0;
  std::string profile;
  absl::Duration lease = absl::Seconds(2);
  std::vector<WorkerShape> workers;
  std::vector<JobShape> jobs;
  // Trainers train the engine's own model, whose elements are what they are.
  bool language_model = false;
  absl::Duration delay_min;
  absl::Duration delay_max;
  LinkFaults links;
  // Jobs that share a worker.
  size_t seats_max = coordinator::ClusterOptions().seats_max;
  // Between two snapshots of the coordinator's journal, in records.
  uint32_t compact_records = 1000;
  // When the last fault is over: cut links heal, and processes that are down
  // start.
  absl::Duration calm_at;
  std::vector<Fault> faults;
};

// What is drawn unless it is given.
struct Given {
  // Whether parts of the models are averaged.
  std::optional<bool> averages = {};
  // Whether more jobs than a worker takes wait for their turn, by priority.
  std::optional<bool> queue = {};
};
// Errors: InvalidArgument for an unknown profile.
absl::StatusOr<Schedule> DrawSchedule(uint64_t seed, std::string_view profile,
                                      const Given& given = {});
// Profiles in turn.
Schedule DrawSchedule(uint64_t seed);

// Whether its jobs are saved.
inline bool HasCheckpoints(const Schedule& schedule) {
  return !schedule.jobs.empty() && schedule.jobs[0].checkpoint_every > 0;
}

// Whether its jobs have a validation split.
inline bool IsEvaluated(const Schedule& schedule) {
  return schedule.jobs.empty() || schedule.jobs[0].validation_samples > 0;
}

// Whether a program trains its jobs.
inline bool HasPrograms(const Schedule& schedule) {
  return !schedule.jobs.empty() && schedule.jobs[0].program;
}

// Whether parts of its jobs' models are averaged.
inline bool HasAverages(const Schedule& schedule) {
  return !schedule.jobs.empty() && schedule.jobs[0].average_begin > 0;
}

// Whether more jobs than a worker takes wait for their turn.
inline bool HasQueue(const Schedule& schedule) {
  return schedule.jobs.size() > schedule.seats_max;
}

// One line for each of: "seed N", "profile NAME", "checkpoints EVERY KEEP",
// "language_model", "validation", "programs", "averages" and "queue" with "yes"
// or "no", "faults COUNT", then a line for each fault. Of several jobs the
// first one speaks for all.
std::string ToText(const Schedule& schedule);
// Reads such a text. Lines that begin with # are comments. A text of "seed" and
// "profile" alone is the schedule that they draw. Any other text must have all
// lines, because a text that lost some would be another schedule.
//
// Errors: InvalidArgument names the bad or missing line.
absl::StatusOr<Schedule> ScheduleFromText(std::string_view text);

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_SCHEDULE_H_
