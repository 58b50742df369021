#include "trainer/kit/main/rules.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::trainer::kit {

absl::StatusOr<Ready> StartReady(const Subject& subject) {
  Ready ready;
  SKERRY_ASSIGN_OR_RETURN(ready.trainer,
                          TriedTrainer::Start(subject.command, subject.job));
  SKERRY_ASSIGN_OR_RETURN(ready.description, ready.trainer->SetUp());
  return ready;
}

absl::Status Broken(const std::string& how) {
  return absl::FailedPreconditionError(how);
}

absl::Status DoesNotApply(const std::string& why) {
  return absl::CancelledError(why);
}

absl::Status Expect(const absl::Status& status, absl::StatusCode code,
                    const std::string& what) {
  if (status.code() == code) return absl::OkStatus();
  return Broken(absl::StrCat(what, " was answered with ", status.ToString(),
                             ", not with ", absl::StatusCodeToString(code)));
}

}  // namespace skerry::trainer::kit
