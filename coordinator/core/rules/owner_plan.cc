#include "coordinator/core/rules/owner_plan.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/rules/exchange_shape.h"
#include "coordinator/core/state/layout.h"
#include "coordinator/core/state/owner_hold.h"
#include "planner/codec_policy.h"
#include "planner/exchange_time.h"
#include "planner/owner_shares.h"

namespace skerry::coordinator {
namespace {

// Shares by links have to take this much of the time that equal shares take, or
// less. Measurements of links that are alike differ by some hundredths.
constexpr double kWorthIt = 0.95;

std::string SharesText(const Opened& opened) {
  std::vector<uint32_t> spans(opened.members.size());
  for (const uint32_t owner : opened.owners) ++spans[owner];
  std::string text;
  for (size_t m = 0; m < spans.size(); ++m) {
    absl::StrAppend(&text, m == 0 ? "" : ", ", spans[m]);
  }
  return text;
}

// `shape` has the owners of `opened`, and links to share by.
void ShareByLinks(const JobState& job, const std::vector<double>& bytes,
                  const planner::ExchangeShape& shape, Opened& opened) {
  const std::vector<uint64_t> spans = SpansOf(job, opened);
  auto assigned = planner::AssignOwners(shape, spans, bytes.front());
  if (!assigned.ok()) return;
  planner::ExchangeShape by_links = shape;
  planner::SetOwners(spans, assigned->owner, by_links);
  const absl::Duration before = planner::LinkTime(shape, bytes);
  const absl::Duration after = planner::LinkTime(by_links, bytes);
  if (after > kWorthIt * before) return;
  opened.owners = std::move(assigned->owner);
  absl::StrAppend(
      &opened.reason,
      absl::StrFormat("; of the spans they own %s by their links, for %.3g s "
                      "instead of %.3g s: %s",
                      SharesText(opened), absl::ToDoubleSeconds(after),
                      absl::ToDoubleSeconds(before), assigned->reason));
}

}  // namespace

void PlanOwners(JobState& job, size_t fragment, Opened& opened) {
  const RoundMachine& machine = job.fragments[fragment];
  OwnerHold& hold = job.owner_holds[fragment];
  hold.OnOther();
  const auto count = static_cast<uint32_t>(opened.members.size());
  opened.owners = EqualOwners(job.span_count, count, machine.tries());
  if (machine.open().has_value() &&
      SameContributions(machine.open()->opened.members, opened.members)) {
    const std::vector<uint32_t>& before = machine.open()->opened.owners;
    for (size_t span = 0; span < before.size(); ++span) {
      opened.owners[span] = (before[span] + 1) % count;
    }
  }
  if (machine.tries() > 0 || opened.hops == Hops::kOne ||
      planner::IsCodecPolicy(job.spec.exchange.codec)) {
    return;
  }
  std::optional<planner::ExchangeShape> shape = MeasuredShape(job, opened);
  if (!shape.has_value()) return hold.OnUnmeasured();
  std::vector<Life> lives;
  for (const Member& member : opened.members) lives.push_back(member.life);
  const std::vector<double> bytes = BytesPerElement(job, opened);
  if (hold.OnOpened(lives, bytes, *shape)) {
    ShareByLinks(job, bytes, *shape, opened);
  }
}

}  // namespace skerry::coordinator
