#include "cli/spot_trace.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/bounded_number.h"

namespace skerry::cli {
namespace {

// When the absence of a machine that does not come back ends. No line of a
// trace may name a later time.
constexpr absl::Duration kNever = absl::Hours(100'000);

std::map<std::string, uint32_t, std::less<>> WorkersOf(
    const sim::ClusterShape& cluster) {
  std::map<std::string, uint32_t, std::less<>> workers;
  uint32_t next = 0;
  for (const sim::IslandShape& island : cluster.islands) {
    for (uint32_t i = 0; i < island.workers; ++i) {
      workers[absl::StrCat(island.name, i)] = next++;
    }
  }
  return workers;
}

}  // namespace

absl::StatusOr<std::vector<sim::Absence>> ParseSpotTrace(
    const std::string& file_name, const std::string& text,
    const sim::ClusterShape& cluster) {
  const auto workers = WorkersOf(cluster);
  std::vector<sim::Absence> absences;
  // The worker's last entry in `absences`, for each worker that is down.
  std::map<uint32_t, size_t> down;
  absl::Duration last;
  int number = 0;
  const auto wrong = [&](const std::string& what) {
    return absl::InvalidArgumentError(
        absl::StrCat(file_name, ":", number, ": ", what));
  };
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') continue;
    const std::vector<absl::string_view> parts = absl::StrSplit(line, ',');
    if (parts.size() != 3) {
      return wrong("has to be SECONDS,WORKER,down or SECONDS,WORKER,up");
    }
    const auto seconds =
        ReadNumber<double>(std::string_view(parts[0].data(), parts[0].size()),
                           {0, absl::ToDoubleSeconds(kNever)});
    if (!seconds.ok()) {
      return wrong(absl::StrCat("SECONDS ", seconds.status().message()));
    }
    const absl::Duration at = absl::Seconds(*seconds);
    if (at < last) return wrong("is earlier than the line before");
    last = at;
    const auto worker =
        workers.find(std::string(absl::StripAsciiWhitespace(parts[1])));
    if (worker == workers.end()) {
      return wrong(absl::StrCat("the cluster has no worker ", parts[1],
                                "; its first is ", workers.begin()->first));
    }
    const absl::string_view state = absl::StripAsciiWhitespace(parts[2]);
    const auto open = down.find(worker->second);
    if (state == "down" && open == down.end()) {
      down[worker->second] = absences.size();
      absences.push_back({worker->second, at, kNever});
    } else if (state == "up" && open != down.end()) {
      absences[open->second].end = at;
      down.erase(open);
    } else if (state == "up" || state == "down") {
      return wrong(absl::StrCat(worker->first, " is ", state, " already"));
    } else {
      return wrong(absl::StrCat("has to be up or down, not ", state));
    }
  }
  return absences;
}

}  // namespace skerry::cli
