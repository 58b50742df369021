// cli/field_places.h
//
// Remembers the line of each field of a YAML file, so that a later error about
// its value can name the line.
#ifndef SKERRY_CLI_FIELD_PLACES_H_
#define SKERRY_CLI_FIELD_PLACES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"

namespace skerry::cli {

// Line and column, from 1 each.
using Place = std::pair<int, int>;

struct PlacedProblem {
  Place place;
  std::string path;  // of the field; empty when it is the whole file
  // FILE:LINE:COLUMN: FIELD: WHAT
  std::string text;
};

// One problem a line, in the order of the file.
std::string InFileOrder(std::vector<PlacedProblem> problems);

class FieldPlaces {
 public:
  FieldPlaces() = default;
  explicit FieldPlaces(std::string file_name)
      : file_name_(std::move(file_name)) {}

  // A field by its path, as training.tau. The first place counts.
  void Add(const std::string& path, Place place) {
    places_.emplace(path, place);
  }
  bool Has(std::string_view path) const {
    return places_.contains(std::string(path));
  }

  // `line` is a problem, "FIELD: WHAT". A field that is not in the file has the
  // place of the part that it belongs to, or stands behind all others.
  PlacedProblem Locate(std::string_view line) const;
  // Does the same for every line of an InvalidArgument. Other errors stay as
  // they are.
  absl::Status Locate(const absl::Status& status) const;

 private:
  const Place* Find(std::string path) const;

  std::string file_name_;
  absl::btree_map<std::string, Place> places_;
};

}  // namespace skerry::cli

#endif  // SKERRY_CLI_FIELD_PLACES_H_
