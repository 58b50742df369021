// trainer/attach/core/rank_line.h
//
// What skerry-attach and a rank of a training program tell each other, line by
// line (docs/formats/attach.md).
#ifndef SKERRY_TRAINER_ATTACH_CORE_RANK_LINE_H_
#define SKERRY_TRAINER_ATTACH_CORE_RANK_LINE_H_

#include <cstdint>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace skerry::trainer::attach {

// The version of the page.
inline constexpr uint64_t kLinesVersion = 1;

enum class Call {
  kDescribe,
  kRun,
  kSnapshot,
  kLoad,
  kEvaluate,
  kGenerate,
  kSaveInner,
  kLoadInner,
  kExit,
};

// "Describe", as a line spells it.
absl::string_view NameOf(Call call);

// A rank's first line.
struct Hello {
  uint64_t version = 0;
  // The package that the program speaks through, with its version.
  std::string package;
};

// A rank's answer to a call.
struct Answer {
  uint64_t id = 0;
  absl::Status status;
  // A JSON object; empty when `status` is not OK.
  std::string body;
};

// Inner steps since the rank started.
struct StepNote {
  uint64_t steps = 0;
};

// The program has failed between two calls; the rank ends.
struct FailedNote {
  std::string error;
};

// A note that this release does not know.
struct OtherNote {};

using RankLine = std::variant<Hello, Answer, StepNote, FailedNote, OtherNote>;

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_CORE_RANK_LINE_H_
