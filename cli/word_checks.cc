#include "cli/word_checks.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/did_you_mean.h"

namespace skerry::cli {

bool ReadDuration(const std::string& text, absl::Duration* duration) {
  double seconds;
  if (absl::SimpleAtod(text, &seconds)) {
    *duration = absl::Seconds(seconds);
  } else if (!absl::ParseDuration(text, duration)) {
    return false;
  }
  return *duration >= absl::ZeroDuration();
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
