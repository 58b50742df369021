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

absl::Duration Doubled(absl::Duration wait, absl::Duration most, int times) {
  for (int i = 0; i < times && wait < most; ++i) wait *= 2;
  return std::min(wait, most);
}

}  // namespace

bool TrainerSaid(const absl::Status& why) {
  return !absl::IsUnavailable(why) && !absl::IsDeadlineExceeded(why) &&
         !absl::IsCancelled(why);
}

TrainerFailures::Verdict TrainerFailures::OnFailure(const absl::Status& why,
                                                    uint64_t rounds,
                                                    bool was_ready) {
  const std::string text(why.message());
  if (was_ready) not_begun_ = 0;
  if (absl::IsCancelled(why)) return {absl::ZeroDuration(), false, text};
  if (IsPermanent(why) && !was_ready) {
    return {
        Doubled(options_.begin_wait_min, options_.begin_wait_max, not_begun_++),
        true, text};
  }
  const bool said = TrainerSaid(why);
  const uint64_t forgiven = said ? options_.said_rounds : options_.ended_rounds;
  if (rounds - rounds_ >= forgiven) in_a_row_ = 0;
  rounds_ = rounds;
  ++in_a_row_;
  if (IsPermanent(why)) return {std::nullopt, true, text};
  if (in_a_row_ >= (said ? options_.said_max : options_.ended_max)) {
    return {std::nullopt, true,
            absl::StrCat(text, " (", in_a_row_,
                         " trainers in a row have failed, so this worker "
                         "starts no more of them)")};
  }
  return {Doubled(options_.wait_min, options_.wait_max, in_a_row_ - 1), false,
          text};
}

}  // namespace skerry::worker
