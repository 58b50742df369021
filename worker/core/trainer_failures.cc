#include "worker/core/trainer_failures.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace skerry::worker {
namespace {

// The next trainer would be given the same job and the same files.
bool IsPermanent(const absl::Status& why) {
  return absl::IsInvalidArgument(why) || absl::IsNotFound(why) ||
         absl::IsPermissionDenied(why) || absl::IsUnimplemented(why) ||
         absl::IsDataLoss(why);
}

}  // namespace

bool TrainerSaid(const absl::Status& why) {
  return !absl::IsUnavailable(why) && !absl::IsDeadlineExceeded(why) &&
         !absl::IsCancelled(why);
}

TrainerFailures::Verdict TrainerFailures::OnFailure(const absl::Status& why,
                                                    uint64_t rounds) {
  const std::string text(why.message());
  if (absl::IsCancelled(why)) return {absl::ZeroDuration(), text};
  const bool said = TrainerSaid(why);
  const uint64_t forgiven = said ? options_.said_rounds : options_.ended_rounds;
  if (rounds - rounds_ >= forgiven) in_a_row_ = 0;
  rounds_ = rounds;
  ++in_a_row_;
  if (IsPermanent(why)) return {std::nullopt, text};
  if (in_a_row_ >= (said ? options_.said_max : options_.ended_max)) {
    return {std::nullopt,
            absl::StrCat(text, " (", in_a_row_,
                         " trainers in a row have failed, so this worker "
                         "starts no more of them)")};
  }
  absl::Duration wait = options_.wait_min;
  for (int i = 1; i < in_a_row_ && wait < options_.wait_max; ++i) wait *= 2;
  return {std::min(wait, options_.wait_max), text};
}

}  // namespace skerry::worker
