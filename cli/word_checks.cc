#include "cli/word_checks.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/bounded_number.h"
#include "cli/did_you_mean.h"

namespace skerry::cli {
namespace {

// A century: nobody waits longer, and a machine is not away for longer.
constexpr absl::Duration kDurationMax = absl::Hours(24 * 36525);

}  // namespace

bool ReadDuration(const std::string& text, absl::Duration* duration) {
  const auto seconds = ReadNumber<double>(text, {});
  absl::Duration read;
  if (seconds.ok()) {
    read = absl::Seconds(*seconds);
  } else if (!absl::ParseDuration(text, &read)) {
    return false;
  }
  if (read < absl::ZeroDuration() || read > kDurationMax) return false;
  *duration = read;
  return true;
}

CLI::Validator IsDuration() {
  return {[](const std::string& text) {
            absl::Duration duration;
            return ReadDuration(text, &duration)
                       ? std::string()
                       : text + " is no time like 90s or 1h30m";
          },
          ""};
}

CLI::Option* AddDuration(CLI::App& app, const std::string& name,
                         const std::string& about, absl::Duration& value) {
  return app
      .add_option_function<std::string>(
          name,
          [&value](const std::string& text) { ReadDuration(text, &value); },
          about)
      ->check(IsDuration())
      ->type_name("TIME");
}

CLI::Validator IsOneOf(const std::vector<std::string>& known) {
  return {[known](const std::string& text) {
            if (std::find(known.begin(), known.end(), text) != known.end()) {
              return std::string();
            }
            return absl::StrCat("it has to be one of ",
                                absl::StrJoin(known, ", "), ", not ", text,
                                DidYouMean(text, known));
          },
          ""};
}

}  // namespace skerry::cli
