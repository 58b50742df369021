#include "tests/sim/schedule.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "planner/span_alignment.h"

namespace skerry::sim {
namespace {

// Every part of a schedule draws from a stream of its own.
constexpr uint64_t kShape = 1;
constexpr uint64_t kFaults = 2;
constexpr uint64_t kMoreFaults = 3;
constexpr uint64_t kFragments = 4;
constexpr uint64_t kStrikes = 5;
constexpr uint64_t kCheckpoints = 6;
constexpr uint64_t kModels = 7;
constexpr uint64_t kHistories = 8;
constexpr uint64_t kHangs = 9;
constexpr uint64_t kValidations = 10;
constexpr uint64_t kPrograms = 11;
constexpr uint64_t kApplyPoints = 12;
constexpr uint64_t kAverages = 13;
constexpr uint64_t kQueues = 14;
constexpr uint64_t kMixes = 68;  // leaves pinned schedules as they are

// Share of the schedules with a quadratic model in which programs train.
constexpr double kOfPrograms = 0.15;
// Share of those in which parts of the models are averaged.
constexpr double kOfAverages = 0.5;
// Share of the schedules with operators in which two processes have one name.
constexpr double kTwins = 0.3;
// Shares of the saved ones in which a folder goes, and an old journal comes.
constexpr double kFoldersGone = 0.3;
constexpr double kOldJournals = 0.4;
// Share of the schedules in which trainers train a language model.
constexpr double kLanguageModels = 0.05;
// Share of the schedules in which jobs wait for their turn.
constexpr double kOfQueues = 0.06;
// Share of the schedules in which the data have no validation split.
constexpr double kWithoutValidation = 0.1;

class Draw {
 public:
  Draw(uint64_t seed, uint64_t stream) : random_(Mix64(seed) ^ stream) {}

  uint64_t Below(uint64_t bound) { return random_.Below(bound); }
  bool Chance(double share) { return random_.Uniform() < share; }
  double Between(double low, double high) {
    return low + (high - low) * random_.Uniform();
  }
  // Uniform in the logarithm.
  double Scale(double low, double high) {
    return low * std::exp(random_.Uniform() * std::log(high / low));
  }
  // Rounded to milliseconds, so that text says all of it.
  absl::Duration Ms(double low_ms, double high_ms) {
    return absl::Milliseconds(static_cast<int64_t>(Scale(low_ms, high_ms)));
  }
  template <typename T>
  T Of(std::initializer_list<T> choices) {
    return *(choices.begin() + Below(choices.size()));
  }

 private:
  Random random_;
};

JobShape DrawJob(Draw& draw, bool wide) {
  JobShape job;
  job.method = draw.Of<const char*>(
      {"local_sgd", "diloco", "co2", "average_plus_local_delta", "late"});
  job.codec = draw.Of<const char*>(
      {"raw_f32", "raw_f32", "bf16", "int8_block", "nf4", "sign1"});
  job.batch_samples = static_cast<uint32_t>(1 + draw.Below(4));
  job.tau = static_cast<uint32_t>(1 + draw.Below(4));
  // Each of the two workers that an island may have needs a span.
  job.spans =
      static_cast<uint32_t>(wide ? 2 + draw.Below(2) : 1 + draw.Below(2));
  job.elements =
      planner::SpanAlignment() * (job.spans - 1) + 64 + draw.Below(449);
  job.quorum = draw.Of({1.0, 1.0, 0.5, 0.67});
  job.carry = static_cast<uint32_t>(draw.Below(4));
  job.evaluate_every = static_cast<uint32_t>(2 + draw.Below(6));
  return job;
}

// Gives a third of the jobs several fragments. This draws from a stream of its
// own, so that the rest of the schedule does not depend on it.
void DrawFragments(Draw& draw, JobShape& job) {
  if (!draw.Chance(1.0 / 3)) return;
  job.fragments = static_cast<uint32_t>(2 + draw.Below(2));
  job.tau *= job.fragments;
  job.elements += planner::SpanAlignment() * job.spans * (job.fragments - 1);
}

// Gives jobs whose results may come inside a round up to as many points as a
// round has steps, and longer rounds; likewise.
void DrawApplyPoints(Draw& draw, JobShape& job) {
  const bool late =
      job.method == "late" || job.method == "average_plus_local_delta";
  const uint64_t longer = 1 + draw.Below(4);
  const uint32_t points = draw.Of({0u, 1u, 2u, 4u, 1000u});
  if (!late) return;
  job.apply_points = points;
  job.tau *= static_cast<uint32_t>(longer);
}

// Lets half of the jobs of one method mix; likewise.
void DrawMix(Draw& draw, JobShape& job) {
  const double mix = draw.Of({0.0, 0.0, 0.0, 0.05, 0.25, 0.95});
  if (mix == 0 || job.method != "average_plus_local_delta") return;
  job.method = "dasgd";
  job.mix = mix;
  job.apply_points = 0;
}

void DrawShape(Schedule& schedule) {
  Draw draw(schedule.seed, kShape);
  Draw fragments(schedule.seed, kFragments);
  Draw points(schedule.seed, kApplyPoints);
  Draw mixes(schedule.seed, kMixes);
  schedule.lease = draw.Ms(1000, 3000);
  const auto islands = static_cast<uint32_t>(draw.Scale(2, 5.99));
  for (uint32_t island = 0; island < islands; ++island) {
    const int wide = draw.Chance(0.25) ? 2 : 1;
    const absl::Duration compute = draw.Ms(3, 30);
    for (int k = 0; k < wide; ++k) {
      schedule.workers.push_back({absl::StrCat("i", island), compute});
    }
  }
  const int jobs = draw.Chance(0.15) ? 2 : 1;
  for (int j = 0; j < jobs; ++j) {
    JobShape job = DrawJob(draw, schedule.workers.size() > islands);
    DrawFragments(fragments, job);
    DrawApplyPoints(points, job);
    DrawMix(mixes, job);
    // Six to twenty rounds of everyone.
    const uint64_t round =
        uint64_t{job.tau} * job.batch_samples * schedule.workers.size();
    job.samples = round * (6 + draw.Below(15)) + draw.Below(round);
    job.submitted_at = j == 0 ? absl::Milliseconds(100) : draw.Ms(100, 3000);
    schedule.jobs.push_back(std::move(job));
  }
  schedule.delay_min = absl::Microseconds(200);
  schedule.delay_max = draw.Ms(1, 150);
  schedule.compact_records = draw.Chance(0.5) ? 40 : 100'000;
}

// The averaged elements of a job that has some; likewise. They begin at the
// edge of a span and may have more than one.
void DrawAverages(uint64_t seed, size_t index, JobShape& job) {
  Draw draw(seed, kAverages + 100 * (1 + index));
  const uint64_t alignment = planner::SpanAlignment();
  job.average_begin = (job.elements + alignment - 1) / alignment * alignment;
  job.elements = job.average_begin + 64 + draw.Below(2 * alignment);
  // A span more has room for them.
  if (draw.Chance(0.5)) ++job.spans;
}

// Gives the schedule three to five short jobs, of which a worker takes one or
// two at a time. This draws from a stream of its own, so that other schedules
// do not depend on it.
void DrawQueue(Draw& draw, Schedule& schedule) {
  const size_t count = 3 + draw.Below(3);
  while (schedule.jobs.size() < count) {
    JobShape job = schedule.jobs[draw.Below(schedule.jobs.size())];
    job.submitted_at = draw.Ms(100, 3000);
    schedule.jobs.push_back(std::move(job));
  }
  for (JobShape& job : schedule.jobs) {
    job.samples = 1 + job.samples / (2 * count);
    job.priority = draw.Of({-10, 0, 0, 10});
  }
  schedule.seats_max = 1 + draw.Below(2);
}

void DrawCheckpoints(Draw& draw, Schedule& schedule) {
  const auto every = static_cast<uint32_t>(1 + draw.Below(6));
  const auto keep = static_cast<uint32_t>(1 + draw.Below(3));
  for (JobShape& job : schedule.jobs) {
    job.checkpoint_every = every;
    job.keep = keep;
  }
}

class FaultDraw {
 public:
  FaultDraw(Schedule& schedule, const Profile& profile, Draw& losses)
      : schedule_(schedule),
        draw_(schedule.seed, kFaults),
        more_(schedule.seed, kMoreFaults),
        strikes_(schedule.seed, kStrikes),
        histories_(schedule.seed, kHistories),
        hangs_(schedule.seed, kHangs),
        losses_(losses),
        horizon_ms_(draw_.Scale(1500, 12000)) {
    if (profile.losses) DrawLinks();
    if (profile.crashes) Crashes();
    if (profile.powers) Powers();
    if (profile.partitions) Partitions();
    if (profile.pauses) Pauses();
    if (profile.clocks) Clocks();
    if (profile.disks) Disks();
    if (profile.operators) Operators();
    if (profile.disks) Rot();
    if (profile.operators) Holds();
    if (profile.crashes) Strikes();
    if (profile.pauses) Hangs();
    if (profile.disks && HasCheckpoints(schedule)) Losses();
    Histories(profile);
    std::stable_sort(
        schedule.faults.begin(), schedule.faults.end(),
        [](const Fault& a, const Fault& b) { return a.at < b.at; });
    schedule.calm_at = absl::Milliseconds(static_cast<int64_t>(horizon_ms_));
  }

 private:
  HostId Anyone() {
    return static_cast<HostId>(draw_.Below(schedule_.workers.size() + 1));
  }
  HostId Worker() {
    return static_cast<HostId>(1 + draw_.Below(schedule_.workers.size()));
  }
  // 0 to `most`, small numbers more often.
  uint64_t Some(uint64_t most) {
    return draw_.Below(1 + draw_.Below(most + 1));
  }
  void Add(FaultKind kind, HostId host, absl::Duration lasts, double amount = 0,
           uint32_t other = 0) {
    const auto at = absl::Milliseconds(
        static_cast<int64_t>(draw_.Between(50, horizon_ms_)));
    schedule_.faults.push_back({at, kind, host, other, lasts, amount});
  }

  void DrawLinks() {
    schedule_.links.lost = draw_.Of({0.0, 0.01, 0.05, 0.3});
    schedule_.links.repeated = draw_.Of({0.0, 0.02, 0.1});
    schedule_.links.late = draw_.Of({0.0, 0.05, 0.3});
    schedule_.links.late_max = draw_.Ms(20, 2000);
    schedule_.links.broken = draw_.Of({0.0, 0.01, 0.05});
  }
  void Crashes() {
    for (uint64_t i = 1 + Some(8); i > 0; --i) {
      Add(FaultKind::kKill, draw_.Chance(0.3) ? 0 : Worker(),
          draw_.Ms(20, 5000));
    }
    for (uint64_t i = Some(3); i > 0; --i) {
      Add(FaultKind::kTrainerDies, Worker(), absl::ZeroDuration());
    }
  }
  void Powers() {
    for (uint64_t i = 1 + Some(6); i > 0; --i) {
      Add(FaultKind::kPowerLoss, Anyone(), draw_.Ms(50, 4000));
    }
  }
  void Partitions() {
    for (uint64_t i = 1 + Some(5); i > 0; --i) {
      const HostId host = Anyone();
      const absl::Duration lasts = draw_.Ms(50, 5000);
      switch (draw_.Below(4)) {
        case 0:
          Add(FaultKind::kCut, host, lasts, 0, Anyone());
          break;
        case 1:
          Add(FaultKind::kIsolate, host, lasts);
          break;
        case 2:
          Add(FaultKind::kFlap, host, lasts, draw_.Of({0.05, 0.2, 0.7}));
          break;
        default:
          Add(FaultKind::kSlowLink, host, lasts, draw_.Of({5.0, 50.0, 500.0}));
      }
    }
  }
  void Pauses() {
    for (uint64_t i = 1 + Some(5); i > 0; --i) {
      const double lease = absl::ToDoubleMilliseconds(schedule_.lease);
      Add(FaultKind::kPause, Anyone(), draw_.Ms(20, 4 * lease));
    }
  }
  void Clocks() {
    for (uint64_t i = 1 + Some(4); i > 0; --i) {
      Add(FaultKind::kClockRate, Anyone(), draw_.Ms(1000, 8000),
          draw_.Of({0.95, 1.05, 0.99}));
    }
    for (uint64_t i = Some(3); i > 0; --i) {
      Add(FaultKind::kClockLeap, Anyone(), absl::ZeroDuration(),
          draw_.Of({0.5, 5.0, 3600.0}));
    }
  }
  void Disks() {
    for (uint64_t i = 1 + Some(4); i > 0; --i) {
      const absl::Duration lasts = draw_.Ms(100, 4000);
      switch (draw_.Below(3)) {
        case 0:
          Add(FaultKind::kSlowDisk, Anyone(), lasts, draw_.Of({10.0, 300.0}));
          break;
        case 1:
          Add(FaultKind::kDiskFull, Anyone(), lasts);
          break;
        default:
          Add(FaultKind::kDiskFails, Anyone(), lasts);
      }
    }
  }
  void Operators() {
    for (uint64_t i = 1 + Some(3); i > 0; --i) {
      if (draw_.Chance(0.5)) {
        Add(FaultKind::kDrain, Worker(), draw_.Ms(100, 4000));
      } else {
        Add(FaultKind::kPreempt, Worker(), draw_.Ms(100, 4000),
            draw_.Of({0.0, 0.3, 2.0}));
      }
    }
    if (draw_.Chance(0.1)) {
      Add(FaultKind::kCancel, 0, absl::ZeroDuration(), 0,
          static_cast<uint32_t>(draw_.Below(schedule_.jobs.size())));
    }
  }
  void AddMore(FaultKind kind, HostId host, absl::Duration lasts,
               double amount = 0, uint32_t other = 0) {
    const auto at = absl::Milliseconds(
        static_cast<int64_t>(more_.Between(50, horizon_ms_)));
    schedule_.faults.push_back({at, kind, host, other, lasts, amount});
  }
  HostId AnyWorker() {
    return static_cast<HostId>(1 + more_.Below(schedule_.workers.size()));
  }
  void Rot() {
    for (uint64_t i = more_.Below(4); i > 0; --i) {
      AddMore(FaultKind::kBitRot, AnyWorker(), absl::ZeroDuration());
    }
  }
  void Holds() {
    for (uint64_t i = more_.Below(3); i > 0; --i) {
      AddMore(FaultKind::kPauseJob, 0, more_.Ms(50, 4000), 0,
              static_cast<uint32_t>(more_.Below(schedule_.jobs.size())));
    }
    for (uint64_t i = more_.Below(3); i > 0; --i) {
      AddMore(FaultKind::kMark, AnyWorker(), more_.Ms(50, 4000),
              more_.Of({1.0, 2.0}));
    }
  }
  void Strike(absl::Duration at, HostId host, Moment moment) {
    schedule_.faults.push_back(
        {at, FaultKind::kStrike, host, static_cast<uint32_t>(moment),
         strikes_.Ms(20, 3000), strikes_.Of({0.0, 0.0, 0.002, 0.05})});
  }
  void Strikes() {
    for (uint64_t i = strikes_.Below(4); i > 0; --i) {
      const auto at = absl::Milliseconds(
          static_cast<int64_t>(strikes_.Between(50, horizon_ms_)));
      const auto host =
          static_cast<HostId>(strikes_.Below(schedule_.workers.size() + 1));
      Strike(at, host, static_cast<Moment>(strikes_.Below(kMomentCount)));
    }
    // All lives begin anew when nothing is left to train.
    if (!strikes_.Chance(0.1)) return;
    for (HostId host = 1; host <= schedule_.workers.size(); ++host) {
      Strike(absl::Milliseconds(50), host, Moment::kTrained);
    }
  }

  void Hangs() {
    for (uint64_t i = hangs_.Below(4); i > 0; --i) {
      const auto at = absl::Milliseconds(
          static_cast<int64_t>(hangs_.Between(50, horizon_ms_)));
      const auto host =
          static_cast<HostId>(1 + hangs_.Below(schedule_.workers.size()));
      schedule_.faults.push_back({at, FaultKind::kTrainerHangs, host, 0,
                                  absl::ZeroDuration(),
                                  hangs_.Of({0.0, 0.0, 1.0})});
    }
  }

  // Machines go with their disks: one, those of an island, or all.
  void Losses() {
    for (uint64_t i = 1 + losses_.Below(2); i > 0; --i) {
      const auto at = absl::Milliseconds(
          static_cast<int64_t>(losses_.Between(50, horizon_ms_)));
      const absl::Duration lasts = losses_.Ms(20, 4000);
      const uint64_t how = losses_.Below(4);
      const auto first =
          static_cast<HostId>(1 + losses_.Below(schedule_.workers.size()));
      for (HostId host = 1; host <= schedule_.workers.size(); ++host) {
        const bool is_neighbour = schedule_.workers[host - 1].island ==
                                  schedule_.workers[first - 1].island;
        if (how > 1 || host == first || (how == 1 && is_neighbour)) {
          schedule_.faults.push_back(
              {at, FaultKind::kDiskLoss, host, 0, lasts, 0});
        }
      }
    }
  }

  void AddHistory(FaultKind kind, HostId host, absl::Duration lasts) {
    const auto at = absl::Milliseconds(
        static_cast<int64_t>(histories_.Between(50, horizon_ms_)));
    schedule_.faults.push_back({at, kind, host, 0, lasts, 0});
  }
  // Operators' mistakes about who is who, and about what was.
  void Histories(const Profile& profile) {
    const auto worker = [this] {
      return static_cast<HostId>(1 +
                                 histories_.Below(schedule_.workers.size()));
    };
    if (profile.operators && histories_.Chance(kTwins)) {
      AddHistory(FaultKind::kTwin, worker(), histories_.Ms(100, 6000));
    }
    if (!HasCheckpoints(schedule_)) return;
    if (histories_.Chance(kFoldersGone)) {
      AddHistory(FaultKind::kFolderGone, worker(), absl::ZeroDuration());
    }
    if (histories_.Chance(kOldJournals)) {
      AddHistory(FaultKind::kOldJournal, 0, histories_.Ms(100, 3000));
    }
  }

  Schedule& schedule_;
  Draw draw_;
  // Some kinds of faults draw from streams of their own, so that the other
  // faults of a schedule do not depend on them.
  Draw more_;
  Draw strikes_;
  Draw histories_;
  Draw hangs_;
  Draw& losses_;
  const double horizon_ms_;
};

}  // namespace

const std::vector<Profile>& Profiles() {
  static const auto* const profiles = new std::vector<Profile>{
      {.name = "quiet"},
      {.name = "crashes", .crashes = true},
      {.name = "powers", .powers = true},
      {.name = "losses", .losses = true},
      {.name = "partitions", .partitions = true},
      {.name = "pauses", .pauses = true, .clocks = true},
      {.name = "disks", .crashes = true, .disks = true},
      {.name = "operators", .operators = true},
      {.name = "network", .losses = true, .partitions = true, .pauses = true},
      {.name = "all",
       .crashes = true,
       .powers = true,
       .losses = true,
       .partitions = true,
       .pauses = true,
       .clocks = true,
       .disks = true,
       .operators = true},
      {.name = "saved", .crashes = true, .disks = true, .saved = true}};
  return *profiles;
}

absl::StatusOr<Schedule> DrawSchedule(uint64_t seed, std::string_view profile,
                                      const Given& given) {
  for (const Profile& one : Profiles()) {
    if (one.name != profile) continue;
    Schedule schedule;
    schedule.seed = seed;
    schedule.profile = one.name;
    DrawShape(schedule);
    Draw queue(seed, kQueues);
    const bool queues = queue.Chance(kOfQueues);
    if (given.queue.value_or(queues)) DrawQueue(queue, schedule);
    schedule.language_model = Draw(seed, kModels).Chance(kLanguageModels);
    if (Draw(seed, kValidations).Chance(kWithoutValidation)) {
      for (JobShape& job : schedule.jobs) job.validation_samples = 0;
    }
    const bool programs =
        Draw(seed, kPrograms).Chance(kOfPrograms) && !schedule.language_model;
    const bool averaged = given.averages.value_or(
        programs && Draw(seed, kAverages).Chance(kOfAverages));
    for (size_t j = 0; j < schedule.jobs.size(); ++j) {
      schedule.jobs[j].program = programs;
      if (averaged) DrawAverages(seed, j, schedule.jobs[j]);
    }
    Draw checkpoints(seed, kCheckpoints);
    if (one.saved) DrawCheckpoints(checkpoints, schedule);
    FaultDraw draw(schedule, one, checkpoints);
    return schedule;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no profile is called ",
                   absl::string_view(profile.data(), profile.size())));
}

Schedule DrawSchedule(uint64_t seed) {
  const auto& profiles = Profiles();
  return *DrawSchedule(seed, profiles[seed % profiles.size()].name);
}

}  // namespace skerry::sim
