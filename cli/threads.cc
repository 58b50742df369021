#include "cli/threads.h"

#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"

namespace skerry::cli {
namespace {

constexpr int kThreadsMax = 4096;

}  // namespace

absl::StatusOr<int> ThreadsOf(int wanted) {
  if (wanted < 0 || wanted > kThreadsMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("--threads is ", wanted, ", must be 1 to ", kThreadsMax));
  }
  if (wanted > 0) return wanted;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace skerry::cli
