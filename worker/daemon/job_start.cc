#include "worker/daemon/job_start.h"

#include <algorithm>

#include "checkpoint/checkpoint_store.h"

namespace skerry::worker {
namespace {

using protocol::JobOrders;

std::vector<Sequence> KeptFrom(const JobOrders& orders) {
  std::vector<Sequence> all(job::FragmentCount(orders.spec));
  for (const protocol::FragmentOrders& one : orders.fragments) {
    if (one.fragment.value() >= all.size()) continue;
    all[one.fragment.value()] = one.keep_from;
  }
  return all;
}

std::vector<Sequence> StartsAt(const JobOrders& orders,
                               const protocol::RestoredState& restored) {
  std::vector<Sequence> all(job::FragmentCount(orders.spec), restored.sequence);
  const auto& sequences = restored.fragment_sequences;
  std::copy_n(sequences.begin(), std::min(sequences.size(), all.size()),
              all.begin());
  return all;
}

}  // namespace

JobStart::JobStart(const JobOrders& orders)
    : restored_(orders.restored.value_or(protocol::RestoredState())),
      has_checkpoint_(orders.spec.model.checkpoint.has_value() ||
                      !restored_.sha256.empty()),
      goes_on_(!restored_.sha256.empty() ||
               (orders.spec.model.checkpoint.has_value() &&
                orders.spec.model.checkpoint->samples == job::Samples::kGoOn)),
      keep_from_(KeptFrom(orders)),
      at_(StartsAt(orders, restored_)) {}

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

job::JobSpec JobStart::SpecToRead(job::JobSpec spec) const {
  if (restored_.sha256.empty()) return spec;
  if (!spec.model.checkpoint.has_value()) {
    spec.model.checkpoint = job::JobSpec::Checkpoint();
  }
  job::JobSpec::Checkpoint& from = *spec.model.checkpoint;
  from.path = spec.checkpoint.has_value() ? spec.checkpoint->directory : "";
  from.name = checkpoint::CheckpointName(restored_.checkpoint.value());
  from.sha256 = restored_.sha256;
  return spec;
}

}  // namespace skerry::worker
