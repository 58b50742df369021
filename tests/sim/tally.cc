#include "tests/sim/tally.h"

#include <algorithm>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace skerry::sim {
namespace {

size_t BucketOf(int64_t resumed_ms) {
  return static_cast<size_t>(
      std::lower_bound(kResumedMs.begin(), kResumedMs.end(), resumed_ms) -
      kResumedMs.begin());
}

std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

void Tally::Add(const Schedule& schedule, const Verdict& verdict) {
  ProfileTally& line = profiles_[verdict.profile];
  ++line.schedules;
  line.events += verdict.events;
  line.commits += verdict.commits;
  line.took_ms += static_cast<uint64_t>(verdict.took_ms);
  ++line.resumed[BucketOf(verdict.resumed_ms)];
  for (const Fault& fault : schedule.faults) {
    ++faults_[static_cast<size_t>(fault.kind)];
  }
  if (verdict.violation.empty()) return;
  ++line.failed;
  failed_[verdict.seed] = {verdict.profile, FirstLine(verdict.violation)};
}

void Tally::Add(const Tally& other) {
  for (const auto& [name, more] : other.profiles_) {
    ProfileTally& line = profiles_[name];
    line.schedules += more.schedules;
    line.events += more.events;
    line.commits += more.commits;
    line.failed += more.failed;
    line.took_ms += more.took_ms;
    for (size_t i = 0; i < line.resumed.size(); ++i) {
      line.resumed[i] += more.resumed[i];
    }
  }
  for (size_t i = 0; i < faults_.size(); ++i) faults_[i] += other.faults_[i];
}

uint64_t Tally::schedules() const {
  uint64_t count = 0;
  for (const auto& [name, line] : profiles_) count += line.schedules;
  return count;
}

uint64_t Tally::events() const {
  uint64_t count = 0;
  for (const auto& [name, line] : profiles_) count += line.events;
  return count;
}

std::string Tally::ToText() const {
  std::string text = absl::StrCat("campaign ", first_seed_, "\n");
  for (const auto& [name, line] : profiles_) {
    absl::StrAppend(&text, "profile ", name, " ", line.schedules, " ",
                    line.events, " ", line.commits, " ", line.failed, " ",
                    line.took_ms);
    for (const uint64_t count : line.resumed) {
      absl::StrAppend(&text, " ", count);
    }
    absl::StrAppend(&text, "\n");
  }
  for (size_t i = 0; i < faults_.size(); ++i) {
    if (faults_[i] == 0) continue;
    absl::StrAppend(&text, "faults ", FaultName(static_cast<FaultKind>(i)), " ",
                    faults_[i], "\n");
  }
  for (const auto& [seed, failure] : failed_) {
    absl::StrAppend(&text, "broken ", seed, " ", failure.profile, " ",
                    failure.violation, "\n");
  }
  return text;
}

absl::Status Tally::TakeLine(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::string word, name;
  in >> word;
  if (word == "profile" && in >> name) {
    ProfileTally& line = profiles_[name];
    in >> line.schedules >> line.events >> line.commits >> line.failed >>
        line.took_ms;
    for (uint64_t& count : line.resumed) in >> count;
  } else if (word == "faults" && in >> name) {
    for (size_t i = 0; i < faults_.size(); ++i) {
      if (name == FaultName(static_cast<FaultKind>(i))) in >> faults_[i];
    }
  } else if (uint64_t seed = 0; word == "broken" && in >> seed) {
    Failure& failure = failed_[seed];
    in >> failure.profile;
    std::getline(in >> std::ws, failure.violation);
    return absl::OkStatus();
  } else {
    in.setstate(std::ios::failbit);
  }
  if (in) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "not a line of a ledger: ", absl::string_view(text.data(), text.size())));
}

}  // namespace skerry::sim
