// Schedules as text and back.
#include <algorithm>
#include <array>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/sim/schedule.h"

namespace skerry::sim {
namespace {

constexpr std::array<const char*, kFaultKindCount> kNames = {
    "kill",      "power_loss",  "disk_loss",   "trainer_dies",  "pause",
    "cut",       "isolate",     "flap",        "slow_link",     "slow_disk",
    "disk_full", "disk_fails",  "clock_rate",  "clock_leap",    "drain",
    "preempt",   "cancel",      "bit_rot",     "pause_job",     "mark",
    "twin",      "folder_gone", "old_journal", "trainer_hangs", "strike"};

absl::Status BadLine(const std::string& line) {
  return absl::InvalidArgumentError(
      absl::StrCat("not a line of a schedule: ", line));
}

absl::StatusOr<Fault> FaultFromLine(const std::string& line) {
  std::istringstream in(line);
  std::string word, kind;
  int64_t at_ms = 0, lasts_ms = 0;
  Fault fault;
  in >> word >> at_ms >> kind >> fault.host >> fault.other >> lasts_ms >>
      fault.amount;
  const auto name = std::find(kNames.begin(), kNames.end(), kind);
  if (!in || word != "fault" || name == kNames.end()) return BadLine(line);
  fault.kind = static_cast<FaultKind>(name - kNames.begin());
  fault.at = absl::Milliseconds(at_ms);
  fault.lasts = absl::Milliseconds(lasts_ms);
  return fault;
}

}  // namespace

std::string FaultName(FaultKind kind) {
  return kNames[static_cast<size_t>(kind)];
}

// fault AT_MS KIND HOST OTHER LASTS_MS AMOUNT
std::string ToText(const Fault& fault) {
  return absl::StrCat("fault ", absl::ToInt64Milliseconds(fault.at), " ",
                      FaultName(fault.kind), " ", fault.host, " ", fault.other,
                      " ", absl::ToInt64Milliseconds(fault.lasts), " ",
                      fault.amount);
}

std::string ToText(const Schedule& schedule) {
  std::string text = absl::StrCat("seed ", schedule.seed, "\nprofile ",
                                  schedule.profile, "\n");
  if (HasCheckpoints(schedule)) {
    absl::StrAppend(&text, "checkpoints ", schedule.jobs[0].checkpoint_every,
                    " ", schedule.jobs[0].keep, "\n");
  }
  if (schedule.language_model) absl::StrAppend(&text, "language_model\n");
  if (!IsEvaluated(schedule)) absl::StrAppend(&text, "no_validation\n");
  if (HasPrograms(schedule)) absl::StrAppend(&text, "programs\n");
  if (HasAverages(schedule)) absl::StrAppend(&text, "averages\n");
  for (const Fault& fault : schedule.faults) {
    absl::StrAppend(&text, ToText(fault), "\n");
  }
  return text;
}

absl::StatusOr<Schedule> ScheduleFromText(std::string_view text) {
  uint64_t seed = 0;
  std::string profile;
  uint32_t every = 0, keep = 0;
  std::vector<Fault> faults;
  bool listed = false;
  bool language_model = false;
  bool no_validation = false;
  bool programs = false;
  bool averages = false;
  const std::vector<std::string> lines =
      absl::StrSplit(absl::string_view(text.data(), text.size()), '\n');
  for (const std::string& line : lines) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "seed") {
      in >> seed;
    } else if (word == "profile") {
      in >> profile;
    } else if (word == "checkpoints") {
      in >> every >> keep;
    } else if (word == "language_model") {
      language_model = true;
    } else if (word == "no_validation") {
      no_validation = true;
    } else if (word == "programs") {
      programs = true;
    } else if (word == "averages") {
      averages = true;
    } else if (word == "fault") {
      absl::StatusOr<Fault> fault = FaultFromLine(line);
      if (!fault.ok()) return fault.status();
      faults.push_back(*fault);
      listed = true;
    } else {
      return BadLine(line);
    }
    if (!in) return BadLine(line);
  }
  if (!listed) return DrawSchedule(seed, profile);
  absl::StatusOr<Schedule> schedule = DrawSchedule(seed, profile, averages);
  if (!schedule.ok()) return schedule;
  schedule->faults = std::move(faults);
  schedule->language_model = language_model;
  for (JobShape& job : schedule->jobs) {
    job.checkpoint_every = every;
    job.keep = keep;
    job.validation_samples = no_validation ? 0 : JobShape().validation_samples;
    job.program = programs;
  }
  return schedule;
}

}  // namespace skerry::sim
