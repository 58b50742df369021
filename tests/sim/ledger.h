// tests/sim/ledger.h
//
// Reads and writes the committed file of all campaigns, and makes the page of
// their results.
#ifndef SKERRY_TESTS_SIM_LEDGER_H_
#define SKERRY_TESTS_SIM_LEDGER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/sim/planted/plants.h"
#include "tests/sim/tally.h"

namespace skerry::sim {

// Errors: InvalidArgument names the line.
absl::StatusOr<std::vector<Tally>> LedgerFromText(std::string_view text);
std::string ToText(const std::vector<Tally>& ledger);

// The first seed that no campaign has run.
uint64_t NextSeed(const std::vector<Tally>& ledger);

// Markdown. `pinned`: names of the schedules that are run again with every
// test.
std::string ReliabilityPage(const std::vector<Tally>& ledger,
                            const std::vector<std::string>& pinned,
                            const std::vector<PlantedBug>& planted);

}  // namespace skerry::sim

#endif  // SKERRY_TESTS_SIM_LEDGER_H_
