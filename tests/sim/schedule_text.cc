// Schedules as text and back.
#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
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

// The lines that a schedule with faults of its own has to have.
constexpr std::array<const char*, 7> kWordsOfFaults = {
    "checkpoints", "language_model", "validation", "programs",
    "averages",    "queue",          "faults"};

// What the lines of a text have said so far.
struct ReadText {
  // First words of lines, without "fault".
  std::set<std::string> words;
  uint64_t seed = 0;
  std::string profile;
  uint32_t every = 0;
  uint32_t keep = 0;
  bool language_model = false;
  bool validation = false;
  bool programs = false;
  bool averages = false;
  bool queue = false;
  size_t fault_count = 0;
  std::vector<Fault> faults;
};

// Reads "yes" or "no".
void ReadYesOrNo(std::istringstream& in, bool& is_so) {
  std::string said;
  in >> said;
  is_so = said == "yes";
  if (!is_so && said != "no") in.setstate(std::ios::failbit);
}

absl::Status ReadLine(const std::string& line, ReadText& read) {
  std::istringstream in(line);
  std::string word;
  in >> word;
  if (word == "fault") {
    SKERRY_ASSIGN_OR_RETURN(const Fault fault, FaultFromLine(line));
    read.faults.push_back(fault);
    return absl::OkStatus();
  }
  if (word == "seed") {
    in >> read.seed;
  } else if (word == "profile") {
    in >> read.profile;
  } else if (word == "checkpoints") {
    in >> read.every >> read.keep;
  } else if (word == "language_model") {
    ReadYesOrNo(in, read.language_model);
  } else if (word == "validation") {
    ReadYesOrNo(in, read.validation);
  } else if (word == "programs") {
    ReadYesOrNo(in, read.programs);
  } else if (word == "averages") {
    ReadYesOrNo(in, read.averages);
  } else if (word == "queue") {
    ReadYesOrNo(in, read.queue);
  } else if (word == "faults") {
    in >> read.fault_count;
  } else {
    return BadLine(line);
  }
  if (!in) return BadLine(line);
  read.words.insert(word);
  return absl::OkStatus();
}

absl::Status CheckHas(const ReadText& read, const char* word) {
  if (read.words.contains(word)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the schedule has no line \"", word, "\"; copy all lines"));
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
  const JobShape first = schedule.jobs.empty() ? JobShape() : schedule.jobs[0];
  const auto says = [](const char* word, bool is_so) {
    return absl::StrCat(word, " ", is_so ? "yes" : "no", "\n");
  };
  std::string text =
      absl::StrCat("seed ", schedule.seed, "\nprofile ", schedule.profile,
                   "\ncheckpoints ", first.checkpoint_every, " ", first.keep,
                   "\n", says("language_model", schedule.language_model),
                   says("validation", IsEvaluated(schedule)),
                   says("programs", HasPrograms(schedule)),
                   says("averages", HasAverages(schedule)),
                   says("queue", HasQueue(schedule)), "faults ",
                   schedule.faults.size(), "\n");
  for (const Fault& fault : schedule.faults) {
    absl::StrAppend(&text, ToText(fault), "\n");
  }
  return text;
}

absl::StatusOr<Schedule> ScheduleFromText(std::string_view text) {
  ReadText read;
  const std::vector<std::string> lines =
      absl::StrSplit(absl::string_view(text.data(), text.size()), '\n');
  for (const std::string& line : lines) {
    if (line.empty() || line[0] == '#') continue;
    SKERRY_RETURN_IF_ERROR(ReadLine(line, read));
  }
  for (const char* word : {"seed", "profile"}) {
    SKERRY_RETURN_IF_ERROR(CheckHas(read, word));
  }
  if (read.words.size() == 2 && read.faults.empty()) {
    return DrawSchedule(read.seed, read.profile);
  }
  for (const char* word : kWordsOfFaults) {
    SKERRY_RETURN_IF_ERROR(CheckHas(read, word));
  }
  if (read.faults.size() != read.fault_count) {
    return absl::InvalidArgumentError(
        absl::StrCat("the line \"faults\" says ", read.fault_count,
                     ", and the schedule has ", read.faults.size(),
                     " lines \"fault\"; copy all lines"));
  }
  absl::StatusOr<Schedule> schedule =
      DrawSchedule(read.seed, read.profile,
                   {.averages = read.averages, .queue = read.queue});
  if (!schedule.ok()) return schedule;
  schedule->faults = std::move(read.faults);
  schedule->language_model = read.language_model;
  for (JobShape& job : schedule->jobs) {
    job.checkpoint_every = read.every;
    job.keep = read.keep;
    job.validation_samples =
        read.validation ? JobShape().validation_samples : 0;
    job.program = read.programs;
  }
  return schedule;
}

}  // namespace skerry::sim
