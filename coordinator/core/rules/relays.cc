#include "coordinator/core/rules/relays.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/hash.h"

namespace skerry::coordinator {
namespace {

bool Misses(const Worker& worker, const Worker& relay) {
  return absl::c_linear_search(worker.unreached, relay.self.worker);
}

// Names have no spaces.
uint64_t Draw(const Worker& a, const Worker& b, const Worker& relay) {
  const auto& [first, second] = std::minmax(a.self.worker, b.self.worker);
  const std::string text =
      absl::StrCat(first, " ", second, " ", relay.self.worker);
  return Hash64(std::as_bytes(std::span(text)));
}

}  // namespace

const Worker* RelayFor(const WorkerTable& workers, const Worker& a,
                       const Worker& b) {
  if (!a.takes_relays || !b.takes_relays) return nullptr;
  const Worker* best = nullptr;
  std::pair<bool, uint64_t> least;
  for (const std::string& name : workers.relays()) {
    const Worker& relay = *workers.FindCurrent(name);
    const bool is_poor = relay.suspected || relay.Leaves() ||
                         Misses(a, relay) || Misses(b, relay);
    const std::pair rank(is_poor, Draw(a, b, relay));
    if (best != nullptr && rank >= least) continue;
    best = &relay;
    least = rank;
  }
  return best;
}

bool CanReach(const WorkerTable& workers, const Worker& a, const Worker& b) {
  if (!a.IsHidden() && !b.IsHidden()) return true;
  if (a.IsHidden() && b.IsHidden()) {
    return RelayFor(workers, a, b) != nullptr;
  }
  return a.IsHidden() ? b.takes_streams : a.takes_streams;
}

}  // namespace skerry::coordinator
