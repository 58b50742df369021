// cli/number_text.h
//
// Reads numbers as people write them in a job file. 1e6, 1_000 and 8.0 are
// whole numbers. 010 and 1M are refused, because readers understand them
// differently.
#ifndef SKERRY_CLI_NUMBER_TEXT_H_
#define SKERRY_CLI_NUMBER_TEXT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace skerry::cli {

// The decimal digits of a whole number, with a minus sign if it is below 0, no
// other sign and no leading zeros. Errors: InvalidArgument, whose message
// continues "has to be WANTED, not TEXT"; it is empty when the text is simply
// no number.
absl::StatusOr<std::string> WholeNumberText(std::string_view text);

// Without the underscores that stand between two digits.
std::string WithoutUnderscores(std::string_view text);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_NUMBER_TEXT_H_
