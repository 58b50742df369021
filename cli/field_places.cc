#include "cli/field_places.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace skerry::cli {

std::string InFileOrder(std::vector<PlacedProblem> problems) {
  std::stable_sort(problems.begin(), problems.end(),
                   [](const PlacedProblem& a, const PlacedProblem& b) {
                     return a.place < b.place;
                   });
  std::string text;
  for (const PlacedProblem& problem : problems) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", problem.text);
  }
  return text;
}

const Place* FieldPlaces::Find(std::string path) const {
  while (!path.empty()) {
    const auto it = places_.find(path);
    if (it != places_.end()) return &it->second;
    const size_t point = path.rfind('.');
    path.resize(point == std::string::npos ? 0 : point);
  }
  return nullptr;
}

PlacedProblem FieldPlaces::Locate(std::string_view line) const {
  const std::string path(line.substr(0, line.find(": ")));
  const absl::string_view what(line.data(), line.size());
  if (const Place* place = Find(path)) {
    return {*place, path,
            absl::StrCat(file_name_, ":", place->first, ":", place->second,
                         ": ", what)};
  }
  return {{std::numeric_limits<int>::max(), 0},
          path,
          absl::StrCat(file_name_, ": ", what)};
}

absl::Status FieldPlaces::Locate(const absl::Status& status) const {
  if (!absl::IsInvalidArgument(status)) return status;
  std::vector<PlacedProblem> problems;
  for (const absl::string_view line : absl::StrSplit(status.message(), '\n')) {
    problems.push_back(Locate(std::string_view(line.data(), line.size())));
  }
  return absl::InvalidArgumentError(InFileOrder(std::move(problems)));
}

}  // namespace skerry::cli
