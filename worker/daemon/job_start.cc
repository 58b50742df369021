#include "worker/daemon/job_start.h"

#include <algorithm>

namespace skerry::worker {
namespace {

std::vector<Sequence> KeptFrom(const v1::JobOrders& orders) {
  std::vector<Sequence> all(FragmentsOf(orders.spec()));
  for (const v1::FragmentOrders& one : orders.fragments()) {
    if (one.fragment() >= all.size()) continue;
    all[one.fragment()] = Sequence(one.keep_from());
  }
  return all;
}

std::vector<Sequence> StartsAt(const v1::JobOrders& orders) {
  std::vector<Sequence> all(FragmentsOf(orders.spec()),
                            Sequence(orders.restored().sequence()));
  const auto& sequences = orders.restored().fragment_sequences();
  for (int f = 0; f < sequences.size() && f < static_cast<int>(all.size());
       ++f) {
    all[f] = Sequence(sequences[f]);
  }
  return all;
}

}  // namespace

uint32_t FragmentsOf(const v1::JobSpec& spec) {
  return std::max(1u, spec.exchange().fragments());
}

JobStart::JobStart(const v1::JobOrders& orders)
    : has_checkpoint_(orders.spec().model().has_checkpoint() ||
                      !orders.restored().sha256().empty()),
      restored_(orders.restored()),
      keep_from_(KeptFrom(orders)),
      at_(StartsAt(orders)) {}

bool JobStart::NeedsCheckpoint(const std::vector<StoredFile>& on_disk) const {
  if (!has_checkpoint_) return false;
  for (size_t f = 0; f < at_.size(); ++f) {
    if (keep_from_[f] > at_[f]) return false;
  }
  // Those of all fragments are stored together.
  return std::none_of(
      on_disk.begin(), on_disk.end(), [this](const StoredFile& file) {
        return file.kind == PieceKey::Kind::kBase &&
               file.fragment + 1 == at_.size() && file.sequence >= at_.back();
      });
}

}  // namespace skerry::worker
