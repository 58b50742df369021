// simulator/history.h
//
// Records a simulation line by line. It keeps a hash of all lines, and the
// newest lines for finding a failure.
#ifndef SKERRY_SIMULATOR_HISTORY_H_
#define SKERRY_SIMULATOR_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/instant.h"

namespace skerry::sim {

class History {
 public:
  // Keeps at most so many lines.
  explicit History(size_t lines_max) : lines_max_(lines_max) {}

  template <typename... Parts>
  void Add(Instant when, const Parts&... parts) {
    Append(absl::StrCat(absl::ToInt64Nanoseconds(when.since_start()), " ",
                        parts...));
  }

  uint64_t hash() const { return hash_; }
  uint64_t count() const { return count_; }
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  void Append(std::string line);

  const size_t lines_max_;
  uint64_t hash_ = 0;
  uint64_t count_ = 0;
  std::deque<std::string> lines_;
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_HISTORY_H_
