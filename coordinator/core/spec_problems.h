// coordinator/core/spec_problems.h
//
// What is wrong with a submitted job, all of it, one line each.
#ifndef SKERRY_COORDINATOR_CORE_SPEC_PROBLEMS_H_
#define SKERRY_COORDINATOR_CORE_SPEC_PROBLEMS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace skerry::coordinator {

class SpecProblems {
 public:
  // `path` is of the field, `what` says what is wrong and what to do.
  void Add(std::string_view path, std::string_view what) {
    lines_.push_back(absl::StrCat(absl::string_view(path.data(), path.size()),
                                  ": ",
                                  absl::string_view(what.data(), what.size())));
  }
  void Require(bool holds, std::string_view path, std::string_view what) {
    if (!holds) Add(path, what);
  }
  bool empty() const { return lines_.empty(); }
  std::string Text() const { return absl::StrJoin(lines_, "\n"); }

 private:
  std::vector<std::string> lines_;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_CORE_SPEC_PROBLEMS_H_
