// Any bytes as what the ranks of a training program say: the set of ranks takes
// every line, and what passes the checks of answers is what others rely on.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "proto/skerry/v1/trainer.pb.h"
#include "trainer/attach/convert/lines.h"
#include "trainer/attach/core/line_splitter.h"
#include "trainer/attach/core/rank_answers.h"
#include "trainer/attach/core/rank_description.h"
#include "trainer/attach/core/rank_set.h"
#include "trainer/convert/messages.h"

namespace skerry::trainer::attach {
namespace {

constexpr int kRanks = 2;

void CheckDescription(const std::string& body) {
  v1::DescribeReply reply;
  if (!ParseBody(body, reply).ok()) return;
  const auto description = DescriptionFromProto(reply);
  if (!description.ok()) return;
  const std::vector<Description> ranks(kRanks, *description);
  const auto merged = MergeDescriptions(ranks, 1);
  if (!merged.ok()) {
    SKERRY_CHECK(merged.status().message().find('\n') ==
                 absl::string_view::npos);
    return;
  }
  uint64_t end = 0;
  for (const ModelTensor& tensor : merged->tensors) {
    uint64_t elements = 1;
    for (const uint64_t extent : tensor.shape) elements *= extent;
    SKERRY_CHECK(tensor.offset == end && elements > 0);
    end += elements;
  }
  SKERRY_CHECK(merged->element_count == end && end <= kElementsMax);
  SKERRY_CHECK(merged->epoch_samples > 0 && merged->layout_hash != 0);
  for (const model::ExportFile& file : merged->export_files) {
    SKERRY_CHECK(!file.name.empty() && file.name != "..");
    SKERRY_CHECK(file.name.find('/') == std::string::npos);
  }
}

void CheckRun(const std::string& body) {
  v1::RunReply reply;
  if (!ParseBody(body, reply).ok()) return;
  const RunResult one = RunResultFromProto(reply);
  const RunRequest request = {.ranges = {{0, 8}}, .replica_batch_samples = 4};
  const std::vector<RunResult> ranks(kRanks, one);
  const auto merged = MergeRuns(request, ranks);
  if (!merged.ok()) return;
  SKERRY_CHECK(merged->samples == 8 && merged->inner_steps == 2);
  SKERRY_CHECK(std::isfinite(merged->loss) && merged->metrics.size() <= 16);
  for (const auto& [name, value] : merged->metrics) {
    SKERRY_CHECK(!name.empty() && std::isfinite(value));
  }
}

// Lines come from one rank and the other in turn, and a call is opened whenever
// one can be.
void Drive(std::string_view bytes) {
  RankSet set(kRanks, Instant());
  LineSplitter lines(kLineBytesMax);
  lines.Add(bytes);
  int rank = 0;
  Instant now;
  while (const auto line = lines.Next()) {
    now = now + absl::Seconds(1);
    if (set.ready() && set.NextDeadline() == std::nullopt) {
      set.Begin(Call::kRun, now);
    }
    const auto parsed = ParseRankLine(*line);
    if (parsed.ok()) {
      if (const auto* answer = std::get_if<Answer>(&*parsed)) {
        CheckDescription(answer->body);
        CheckRun(answer->body);
      }
      set.OnLine(rank, *parsed, now);
    } else {
      set.OnBroken(rank, std::string(parsed.status().message()), now);
    }
    const auto outcome = set.TakeOutcome();
    if (outcome.has_value() && outcome->ok()) {
      SKERRY_CHECK((*outcome)->size() == kRanks);
    }
    set.OnTime(now);
    rank = 1 - rank;
  }
  for (rank = 0; rank < kRanks; ++rank)
    set.OnEnd(rank, {}, {bytes.data(), bytes.size()}, now);
  SKERRY_CHECK(set.is_over());
  SKERRY_CHECK(set.failure().message().find('\n') == absl::string_view::npos);
}

}  // namespace
}  // namespace skerry::trainer::attach

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  skerry::trainer::attach::Drive({reinterpret_cast<const char*>(data), size});
  return 0;
}
