// How committed results become states: ahead of a boundary, and at it.
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "worker/core/compute.h"
#include "worker/core/recovery.h"

namespace skerry::worker {
namespace {

constexpr auto kResult = PieceKey::Kind::kResult;

}  // namespace

void Recovery::PumpFold() {
  if (folds_ > 0 || begin_ == end_) return;
  for (const auto& [span, place] : places_) {
    if (!place.state) return;
  }
  const CommittedEntry* entry = history_.Find(Next(applied()));
  if (entry == nullptr || !HasNeeded(*entry)) return;
  const bool asked = entry->sequence <= target_;
  if (asked && ready() && StandsAtSaved(*entry)) StoreBase();
  for (auto& [span, place] : places_) {
    if (Next(place.state->applied) != entry->sequence) continue;
    const StoredFile* file = history_.FindPiece(
        {kResult, entry->sequence, entry->attempt, span, entry->hashes[span]});
    if (file == nullptr) return;  // discarded by the span before
    asked ? FoldOne(*entry, span, *file) : FoldAhead(*entry, span, *file);
  }
}

bool Recovery::StandsAtSaved(const CommittedEntry& next) const {
  const uint64_t every = settings_.checkpoint_every;
  if (settings_.fragments == 1 || every == 0) return false;
  const uint64_t since = state_.first == applied() ? state_.second : 0;
  return (next.state - 1) / every * every >= since;
}

bool Recovery::IsAhead(const Place& place, const CommittedEntry& entry) {
  // An attempt has one sequence, and before that there is one state.
  return place.ahead && place.ahead->attempt == entry.attempt;
}

absl::AnyInvocable<absl::StatusOr<SpanState>()> Recovery::Folding(
    const CommittedEntry& entry, uint32_t span, const StoredFile& file) {
  return [piece = effects_.disk.Map(file, span), entry, settings = settings_,
          state = *places_[span].state, elements = layout_.elements(span),
          rule = layout_.rule(span), span]() -> absl::StatusOr<SpanState> {
    if (!piece.ok()) return piece.status();
    return FoldResult(settings, state, elements, entry, entry.hashes[span],
                      piece->bytes(), rule);
  };
}

void Recovery::FoldAhead(const CommittedEntry& entry, uint32_t span,
                         const StoredFile& file) {
  Place& place = places_[span];
  if (IsAhead(place, entry)) return;
  place.ahead = Ahead{entry.attempt, std::nullopt};
  Compute(effects_.host, Folding(entry, span, file),
          work_.Wrap([this, span, attempt = entry.attempt](
                         Instant now, absl::StatusOr<SpanState> state) {
            std::optional<Ahead>& ahead = places_[span].ahead;
            if (!ahead || ahead->attempt != attempt) return;
            ahead->state = std::move(state);
            changed_(now);
          }));
}

void Recovery::FoldOne(const CommittedEntry& entry, uint32_t span,
                       const StoredFile& file) {
  Place& place = places_[span];
  absl::AnyInvocable<absl::StatusOr<SpanState>()> work;
  if (!IsAhead(place, entry)) {
    work = Folding(entry, span, file);
  } else if (place.ahead->state) {
    work = [state = *std::move(place.ahead->state)] { return state; };
  } else {
    return;  // This is tried again once the state is there.
  }
  place.ahead.reset();
  ++folds_;
  Compute(effects_.host, std::move(work),
          work_.Wrap([this, sequence = entry.sequence, span, file](
                         Instant now, absl::StatusOr<SpanState> state) {
            OnFolded(now, sequence, span, file, std::move(state));
          }));
}

void Recovery::OnFolded(Instant now, Sequence sequence, uint32_t span,
                        const StoredFile& file,
                        absl::StatusOr<SpanState> state) {
  --folds_;
  if (state.ok()) {
    places_[span].state = *std::move(state);
  } else {
    effects_.host.Event(absl::StrCat("result ", sequence.value(), " span ",
                                     span, ": ", state.status().message()));
    Discard(file);
  }
  const CommittedEntry* entry = history_.Find(sequence);
  if (entry != nullptr && ready() && applied() == sequence) {
    samples_committed_ = {sequence, entry->samples_committed};
    state_ = {sequence, entry->state};
    if (IsBaseSequence(settings_, *entry)) StoreBase();
  }
  changed_(now);
}

}  // namespace skerry::worker
