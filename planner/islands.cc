#include "planner/islands.h"

#include <algorithm>

#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace skerry::planner {
namespace {

absl::Status CheckName(absl::string_view name, absl::string_view what) {
  const bool allowed = std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' ||
           c == '_' || c == '-';
  });
  if (!name.empty() && allowed) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("islands: \"", name, "\" is no name of ", what,
                   "; use letters, digits, '.', '_' and '-'"));
}

absl::Status NamedTwice(absl::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat("islands: \"", name, "\" is named twice"));
}

}  // namespace

absl::StatusOr<std::vector<Island>> ParseIslands(std::string_view text) {
  std::vector<Island> islands;
  absl::btree_set<std::string> island_names;
  absl::btree_set<std::string> worker_names;
  const absl::string_view all(text.data(), text.size());
  for (const absl::string_view part : absl::StrSplit(all, ';')) {
    const std::vector<absl::string_view> sides =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (sides.size() != 2) {
      return absl::InvalidArgumentError(absl::StrCat(
          "islands: \"", part, "\" is not of the form island=worker,worker"));
    }
    SKERRY_RETURN_IF_ERROR(CheckName(sides[0], "an island"));
    Island island{.name = std::string(sides[0]), .workers = {}};
    if (!island_names.insert(island.name).second) return NamedTwice(sides[0]);
    for (const absl::string_view worker : absl::StrSplit(sides[1], ',')) {
      SKERRY_RETURN_IF_ERROR(CheckName(worker, "a worker"));
      if (!worker_names.insert(std::string(worker)).second) {
        return NamedTwice(worker);
      }
      island.workers.emplace_back(worker);
    }
    islands.push_back(std::move(island));
  }
  return islands;
}

}  // namespace skerry::planner
