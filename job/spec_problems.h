// job/spec_problems.h
//
// Collects everything that is wrong with a submitted job, one line for each
// problem: the field's path, what its bound is and which value broke it.
#ifndef SKERRY_JOB_SPEC_PROBLEMS_H_
#define SKERRY_JOB_SPEC_PROBLEMS_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace skerry::job {

class SpecProblems {
 public:
  // `path` names the field. `what` says what is wrong and what to do.
  void Add(std::string_view path, std::string_view what) {
    lines_.push_back(absl::StrCat(View(path), ": ", View(what)));
  }
  // A whole line, as another SpecProblems holds it.
  void AddLine(std::string line) { lines_.push_back(std::move(line)); }
  void Require(bool holds, std::string_view path, std::string_view what) {
    if (!holds) Add(path, what);
  }
  // `bound` continues "has to be". Adds nothing while the bound holds.
  template <typename Number>
  void Bound(bool holds, std::string_view path, Number value,
             std::string_view bound) {
    if (holds) return;
    lines_.push_back(
        absl::StrCat(View(path), ": has to be ", View(bound), ", not ", value));
  }
  // The bound is a range of whole numbers, both ends included.
  template <typename Number>
  void Between(std::string_view path, Number value, Number low, Number high,
               std::string_view hint = "") {
    if (value >= low && value <= high) return;
    lines_.push_back(absl::StrCat(View(path), ": has to be ", low, " to ", high,
                                  ", not ", value, hint.empty() ? "" : "; ",
                                  View(hint)));
  }
  // For a number that has no default: 0 stands for one that is left out, too.
  template <typename Number>
  void Required(std::string_view path, Number value, Number high,
                std::string_view hint) {
    if (value != 0) return Between(path, value, Number{1}, high, hint);
    lines_.push_back(absl::StrCat(View(path), ": is 0 or left out; ",
                                  View(hint), ": write 1 to ", high));
  }
  bool empty() const { return lines_.empty(); }
  const std::vector<std::string>& lines() const { return lines_; }
  // InvalidArgument with one problem a line; OK when there is none.
  absl::Status ToStatus() const {
    if (lines_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(lines_, "\n"));
  }

 private:
  static absl::string_view View(std::string_view text) {
    return absl::string_view(text.data(), text.size());
  }

  std::vector<std::string> lines_;
};

}  // namespace skerry::job

#endif  // SKERRY_JOB_SPEC_PROBLEMS_H_
