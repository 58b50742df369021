#include "trainer/attach/core/rank_line.h"

namespace skerry::trainer::attach {

absl::string_view NameOf(Call call) {
  switch (call) {
    case Call::kDescribe:
      return "Describe";
    case Call::kRun:
      return "Run";
    case Call::kSnapshot:
      return "Snapshot";
    case Call::kLoad:
      return "Load";
    case Call::kEvaluate:
      return "Evaluate";
    case Call::kGenerate:
      return "Generate";
    case Call::kSaveInner:
      return "SaveInner";
    case Call::kLoadInner:
      return "LoadInner";
    case Call::kExit:
      return "Exit";
  }
  return "";
}

}  // namespace skerry::trainer::attach
