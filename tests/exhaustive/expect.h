// tests/exhaustive/expect.h
//
// Explores a model in a test, and prints its numbers of states and transitions.
#ifndef SKERRY_TESTS_EXHAUSTIVE_EXPECT_H_
#define SKERRY_TESTS_EXHAUSTIVE_EXPECT_H_

#include <memory>
#include <string>

#include "tests/exhaustive/search.h"
#include "tests/sim/check/violations.h"

namespace skerry::exhaustive {

// Prints the numbers of the search, and fails the test unless it has ended and
// found nothing.
void ExpectComplete(const std::string& bounds, const Explored& explored);

// A model that grows beyond its states fails, so that its bounds stay true.
inline constexpr uint64_t kStatesMax = 2'000'000;

// Tries every order of a model's events. `bounds` says how large it is.
template <typename Model, typename Scenario>
void ExpectEveryOrder(const std::string& bounds, const Scenario& scenario) {
  sim::Violations found;
  auto start = std::make_unique<Model>(scenario, found);
  ExpectComplete(bounds,
                 Search<Model>(std::move(start), found, kStatesMax).Run());
}

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_EXPECT_H_
