// tests/scenarios/scenario.h
//
// A scenario is a file about a fault that was seen once: what was seen, which
// rule it broke, the steps that lead there, and what has to hold. README.md has
// the format.
#ifndef SKERRY_TESTS_SCENARIOS_SCENARIO_H_
#define SKERRY_TESTS_SCENARIOS_SCENARIO_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace skerry::scenarios {

struct Step {
  int line = 0;
  std::vector<std::string> words;
  std::string Text() const;
};

struct Scenario {
  std::string seen;
  std::string rule;
  std::string stage;
  std::vector<Step> steps;
};

// Errors: InvalidArgument, naming the line.
absl::StatusOr<Scenario> ParseScenario(std::string_view text);

// The values of the placeholders N (a whole number) and NAME (any word) in a
// step's pattern, each kind in order.
struct Args {
  std::vector<uint64_t> n;
  std::vector<std::string> names;
};

// Nothing when the words are others than the pattern's. A pattern that ends in
// "..." takes any number of names there.
std::optional<Args> Match(const Step& step, std::string_view pattern);

// The cluster in which a scenario takes place.
class Stage {
 public:
  virtual ~Stage() = default;
  // Errors: FailedPrecondition, what was expected is not so; InvalidArgument,
  // there is no such step here.
  virtual absl::Status Do(const Step& step) = 0;
};

// Null when there is no stage of that name.
std::unique_ptr<Stage> MakeStage(std::string_view name);

std::unique_ptr<Stage> MakeRecoveryStage();
std::unique_ptr<Stage> MakeRetentionStage();
std::unique_ptr<Stage> MakeSeatsStage();

absl::Status NoSuchStep(const Step& step);
// OK when `holds`; else FailedPrecondition with the step and `found`.
absl::Status Expect(const Step& step, bool holds, std::string_view found);

}  // namespace skerry::scenarios

#endif  // SKERRY_TESTS_SCENARIOS_SCENARIO_H_
