#include "coordinator/core/rules/data_holders.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "coordinator/core/rules/relays.h"

namespace skerry::coordinator {
namespace {

// Holders that orders name to one reader.
constexpr size_t kHoldersMax = 16;

// Names have no spaces.
uint64_t Draw(const Worker& reader, const Worker& holder) {
  const std::string text =
      absl::StrCat(reader.self.worker, " ", holder.self.worker);
  return Hash64(std::as_bytes(std::span(text)));
}

}  // namespace

std::vector<std::string> DataHoldersFor(const JobState& job,
                                        const WorkerTable& workers,
                                        const Worker& reader) {
  if (!reader.fetches_data) return {};
  using Rank = std::tuple<bool, bool, uint64_t>;
  std::vector<std::pair<Rank, std::string>> found;
  for (const auto& [name, seat] : job.seats) {
    if (!seat.facts.has_data) continue;
    const Worker* const holder = workers.FindCurrent(name);
    if (holder == nullptr || holder->incarnation != seat.incarnation) continue;
    if (name == reader.self.worker) return {};
    const bool is_far = holder->island != reader.island;
    if (is_far && !CanReach(workers, reader, *holder)) continue;
    const bool is_poor =
        holder->suspected || absl::c_linear_search(reader.unreached, name);
    found.emplace_back(Rank(is_poor, is_far, Draw(reader, *holder)), name);
  }
  std::sort(found.begin(), found.end());
  if (found.size() > kHoldersMax) found.resize(kHoldersMax);
  std::vector<std::string> names;
  for (auto& [rank, name] : found) names.push_back(std::move(name));
  return names;
}

}  // namespace skerry::coordinator
