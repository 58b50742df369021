// tests/sim/check/violations.h
//
// Collects the broken rules that checkers have found.
#ifndef SKERRY_TESTS_SIM_CHECK_VIOLATIONS_H_
#define SKERRY_TESTS_SIM_CHECK_VIOLATIONS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace skerry::sim {

class Violations {
 public:
  // The first are kept: what follows is often their consequence.
  void Add(std::string what) {
    ++count_;
    if (first_.size() < kKept) first_.push_back(std::move(what));
  }
  size_t count() const { return count_; }
  const std::vector<std::string>& first() const { return first_; }

 private:
  static constexpr size_t kKept = 8;
  size_t count_ = 0;
  std::vector<std::string> first_;
};

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_CHECK_VIOLATIONS_H_
