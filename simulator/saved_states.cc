#include "simulator/saved_states.h"

#include <algorithm>
#include <span>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/sha256.h"

namespace skerry::sim {

protocol::CheckpointFact SavedStates::Save(const worker::StateToSave& from) {
  protocol::CheckpointFact outcome;
  outcome.sequence = from.order.sequence;
  State state;
  for (size_t i = 0; i < from.order.pieces.size(); ++i) {
    const SharedBytes& piece = from.pieces[i];
    const uint64_t hash = Hash64(piece.bytes());
    if (hash != from.order.pieces[i].hash) {
      outcome.error = absl::StrCat("the base of span ", i, " is damaged");
      return outcome;
    }
    state.hashes.push_back(hash);
    state.bytes += piece.size();
    state.pieces.push_back(piece);
  }
  state.consumed = from.order.consumed;
  state.sha256 = Sha256Hex(std::as_bytes(std::span(state.hashes)));
  const auto [there, fresh] =
      states_.try_emplace({from.job, from.order.sequence.value()}, state);
  if (!fresh && there->second.sha256 != state.sha256) {
    outcome.error = "it is there with another state";
    return outcome;
  }
  outcome.bytes = state.bytes;
  outcome.sha256 = state.sha256;
  KeepNewest(from.job, from.spec, from.order);
  return outcome;
}

std::optional<coordinator::Checkpointed> SavedStates::Newest(JobId job) const {
  auto newest = states_.lower_bound({Next(job), 0});
  if (newest == states_.begin()) return std::nullopt;
  --newest;
  if (newest->first.first != job) return std::nullopt;
  coordinator::Checkpointed saved;
  saved.job = job;
  saved.sequence = Sequence(newest->first.second);
  saved.worker = "operator";
  saved.sha256 = newest->second.sha256;
  saved.bytes = newest->second.bytes;
  saved.consumed = newest->second.consumed;
  return saved;
}

void SavedStates::KeepNewest(JobId job, const job::JobSpec& spec,
                             const protocol::CheckpointOrder& order) {
  std::vector<uint64_t> all;
  for (const auto& [key, state] : states_) {
    if (key.first == job) all.push_back(key.second);
  }
  const size_t keep =
      std::max(1u, spec.checkpoint.has_value() ? spec.checkpoint->keep : 0);
  while (all.size() > keep) {
    const uint64_t oldest = all.front();
    all.erase(all.begin());
    const bool stays = Sequence(oldest) == order.sequence ||
                       std::find(order.pinned.begin(), order.pinned.end(),
                                 Sequence(oldest)) != order.pinned.end();
    if (!stays) states_.erase({job, oldest});
  }
}

absl::StatusOr<worker::StartingBase> SavedStates::Read(
    JobId job, uint32_t fragments,
    const protocol::RestoredState& wanted) const {
  const auto found = states_.find({job, wanted.checkpoint.value()});
  if (found == states_.end()) {
    return absl::NotFoundError(absl::StrCat(
        "checkpoint ", wanted.checkpoint.value(), " is not there"));
  }
  const State& state = found->second;
  if (state.sha256 != wanted.sha256) {
    return absl::DataLossError("the checkpoint is another one");
  }
  worker::StartingBase base;
  const size_t spans = state.pieces.size() / fragments;
  for (uint32_t f = 0; f < fragments; ++f) {
    worker::StartingBase::File& one = base.files.emplace_back();
    one.file.kind = worker::PieceKey::Kind::kBase;
    one.file.fragment = f;
    for (size_t i = 0; i < spans; ++i) {
      one.file.pieces.push_back(
          {static_cast<uint32_t>(i), state.hashes[f * spans + i]});
      one.contents.push_back(state.pieces[f * spans + i]);
    }
  }
  return base;
}

}  // namespace skerry::sim
