#include "worker/daemon/codec_speeds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "compression/codec.h"
#include "compression/workspace.h"
#include "runtime/posix/stopwatch.h"

namespace skerry::worker {
namespace {

using protocol::CodecSpeed;

constexpr size_t kElements = size_t{1} << 20;
constexpr int kTurns = 3;
constexpr double kMeasureMaxS = 1.0;

// Laplace: what the menu's table was made with.
std::vector<float> Draw() {
  Random random(1);
  std::vector<float> values(kElements);
  for (float& value : values) {
    const double size = -std::log(1.0 - random.Uniform());
    value = static_cast<float>(random.Below(2) == 0 ? size : -size);
  }
  return values;
}

}  // namespace

std::vector<CodecSpeed> MeasureCodecs(absl::FunctionRef<double()> seconds,
                                      double budget_s) {
  // Shorter than a clock tells apart counts as this.
  constexpr double kSecondsMin = 1e-7;
  const double start = seconds();
  const std::vector<float> values = Draw();
  std::vector<float> decoded(kElements);
  std::vector<std::byte> payload;
  compression::Workspace workspace;
  std::vector<CodecSpeed> speeds;
  for (int turn = 0; turn < kTurns; ++turn) {
    size_t index = 0;
    for (int number = 0; number < 256; ++number) {
      const auto id = static_cast<compression::CodecId>(number);
      const auto codec = compression::FindCodec(id);
      if (!codec.ok()) continue;
      const double begin = seconds();
      if (begin - start > budget_s) return speeds;
      SKERRY_CHECK((*codec)->Encode(values, payload, workspace).ok());
      const double middle = seconds();
      SKERRY_CHECK((*codec)->Decode(payload, decoded, workspace).ok());
      const double end = seconds();
      if (turn == 0) {
        speeds.push_back({std::string(compression::CodecName(id)), 0, 0});
      }
      CodecSpeed& speed = speeds[index++];
      speed.encode_elements_per_s =
          std::max(speed.encode_elements_per_s,
                   kElements / std::max(middle - begin, kSecondsMin));
      speed.decode_elements_per_s =
          std::max(speed.decode_elements_per_s,
                   kElements / std::max(end - middle, kSecondsMin));
    }
  }
  return speeds;
}

void MeasureCodecsOn(
    runtime::Executor& executor, runtime::EventLoop& loop,
    std::weak_ptr<char> owner,
    absl::AnyInvocable<void(std::vector<CodecSpeed>) &&> done) {
  executor.Run([&loop, owner = std::move(owner),
                done = std::move(done)]() mutable {
    const runtime::Stopwatch watch;
    auto speeds = MeasureCodecs([&] { return watch.Seconds(); }, kMeasureMaxS);
    loop.Post([owner = std::move(owner), done = std::move(done),
               speeds = std::move(speeds)]() mutable {
      if (!owner.expired()) std::move(done)(std::move(speeds));
    });
  });
}

}  // namespace skerry::worker
