#include "worker/core/recovery.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "worker/core/compute.h"

namespace skerry::worker {
namespace {

constexpr auto kBase = PieceKey::Kind::kBase;

// A base of a span that another worker has.
struct Offer {
  std::string worker;
  PieceKey key;
  Attempt attempt;  // whose commit made it
};

}  // namespace

Recovery::Recovery(RecoveryOptions options, History& history,
                   const Effects& effects, Changed changed)
    : options_(std::move(options)),
      history_(history),
      effects_(effects),
      changed_(std::move(changed)) {}

void Recovery::SetHoldings(uint32_t begin, uint32_t end) {
  if (begin == begin_ && end == end_) return;
  begin_ = begin;
  end_ = end;
  BeginAnew();
}

void Recovery::ForgetLost(const std::vector<CommittedEntry>& committed,
                          Sequence newest) {
  if (history_.ForgetLost(committed, newest)) BeginAnew();
}

void Recovery::Keep(const KeptState& kept) {
  if (kept == kept_) return;
  kept_ = kept;
  // A base that is being read or fetched may be one of those.
  BeginAnew();
  for (const StoredFile& file : history_.TakeLost(kept_)) {
    effects_.host.Event(absl::StrCat(
        "base ", file.sequence.value(), " of attempt ", file.attempt.value(),
        " is of a history that was lost; it is removed"));
    effects_.disk.Delete(file);
  }
}

void Recovery::BeginAnew() {
  work_.End();
  fetches_ = 0;
  folds_ = 0;
  missing_.clear();
  absl::btree_map<uint32_t, Place> places;
  for (uint32_t span = begin_; span < end_; ++span) {
    places[span].state = std::move(places_[span].state);
  }
  places_ = std::move(places);
}

bool Recovery::BeginWith(uint64_t initial_hash) {
  if (initial_hash == 0 || initial_hash == initial_hash_) return false;
  // What names no values was made of the former ones, if there were any.
  const bool unnamed = initial_hash_ != 0;
  initial_hash_ = initial_hash;
  // A state that is being made or fetched may be of the former values.
  BeginAnew();
  const auto files =
      history_.TakeOfOtherValues(initial_hash, begins_at_, unnamed);
  for (const StoredFile& file : files) effects_.disk.Delete(file);
  bool given_up = !files.empty();
  for (auto& [span, place] : places_) {
    if (!place.state || place.state->applied > begins_at_ ||
        place.state->initial_hash == initial_hash ||
        (place.state->initial_hash == 0 &&
         (!unnamed || place.state->attempt.is_set()))) {
      continue;
    }
    place.state.reset();
    given_up = true;
  }
  return given_up;
}

uint64_t Recovery::begun_with() const {
  for (const auto& [span, place] : places_) {
    if (place.state && place.state->initial_hash != 0) {
      return place.state->initial_hash;
    }
  }
  return history_.initial_hash();
}

uint64_t Recovery::InitialHashAt(Sequence applied) const {
  return applied == begins_at_ && !settings_.from_checkpoint ? initial_hash_
                                                             : 0;
}

void Recovery::SetView(std::vector<Source> sources, Sequence keep_from,
                       Sequence newest) {
  newest_ = newest;
  sources_ = std::move(sources);
  std::erase_if(sources_, [&](const Source& source) {
    return source.holder.peer.worker == options_.worker;
  });
  keep_from_ = keep_from;
}

void Recovery::SetNeighbours(std::vector<SpanHolder> holders) {
  neighbours_ = std::move(holders);
  std::erase_if(neighbours_, [&](const SpanHolder& holder) {
    return holder.peer.worker == options_.worker;
  });
}

void Recovery::SetPeers(Attempt attempt, std::vector<SpanHolder> holders) {
  std::erase_if(holders, [&](const SpanHolder& holder) {
    return holder.peer.worker == options_.worker;
  });
  peers_ = {attempt, std::move(holders)};
}

void Recovery::Hold(Attempt attempt, Instant until) {
  hold_ = {attempt, until};
}

void Recovery::Pump(Instant now) {
  deadline_.reset();
  GiveUpOutlived();
  for (uint32_t span = begin_; span < end_; ++span) {
    const Place& place = places_[span];
    if (!place.state && !place.busy) ChooseBase(now, span);
  }
  PumpResults(now);
  PumpFold();
  ReplaceRotten();
  KeepWhereStuck(now);
}

void Recovery::GiveUpOutlived() {
  // Whether all commits after a state are known here, if there are any.
  const bool told =
      newest_ == keep_from_ || history_.Find(Next(keep_from_)) != nullptr;
  if (!replaceable_ || folds_ > 0) return;
  for (auto& [span, place] : places_) {
    if (!place.state || place.busy) continue;
    const SpanState& state = *place.state;
    if (IsLost(kept_, state.applied, state.attempt)) {
      GiveUp(span, place, "its history was lost after");
      continue;
    }
    if (!told || state.applied >= keep_from_ ||
        history_.Find(Next(state.applied)) != nullptr ||
        !NewerBaseHeld(keep_from_, span)) {
      continue;
    }
    GiveUp(span, place, "no commit follows");
    place.least_base = keep_from_;
  }
}

void Recovery::GiveUp(uint32_t span, Place& place, std::string_view why) {
  effects_.host.Event(absl::StrCat(
      "span ", span, ": ", absl::string_view(why.data(), why.size()), " ",
      place.state->applied.value(), "; it starts again from another base"));
  place.state.reset();
  place.ahead.reset();
}

void Recovery::WakeAt(Instant when) {
  if (when.since_start() == absl::InfiniteDuration()) return;
  if (!deadline_ || when < *deadline_) deadline_ = when;
}

void Recovery::ChooseBase(Instant now, uint32_t span) {
  Place& place = places_[span];
  if (place.not_before > now) return WakeAt(place.not_before);
  if (TryOwnBase(span)) return;
  place.wants_initial = !TryFetchBase(now, span) && keep_from_ <= begins_at_ &&
                        place.least_base <= begins_at_;
}

bool Recovery::TryOwnBase(uint32_t span) {
  const auto key =
      history_.NewestBase(span, std::max(keep_from_, places_[span].least_base));
  if (!key) return false;
  const StoredFile file = *history_.FindPiece(*key);
  auto piece = effects_.disk.Map(file, span);
  if (!piece.ok()) {
    Discard(file);
    return TryOwnBase(span);
  }
  places_[span].busy = true;
  Compute(
      effects_.host,
      [piece = *std::move(piece), options = settings_.outer,
       elements = layout_.elements(span), key = *key] {
        return ReadBase(options, elements, key.sequence, key.hash,
                        piece.bytes());
      },
      work_.Wrap(
          [this, span, file](Instant now, absl::StatusOr<SpanState> state) {
            if (!state.ok()) Discard(file);
            if (state.ok()) {
              state->attempt = file.attempt;
              state->initial_hash = file.initial_hash;
            }
            OnBase(now, span, std::move(state));
          }));
  return true;
}

bool Recovery::TryFetchBase(Instant now, uint32_t span) {
  Place& place = places_[span];
  std::vector<Offer> offers;
  for (const Source& source : sources_) {
    const uint32_t index = span - source.holder.span_begin;
    if (!source.holder.Holds(span) ||
        source.base < std::max(keep_from_, place.least_base) ||
        index >= source.base_hashes.size()) {
      continue;
    }
    if (source.base <= begins_at_ && initial_at_hand_) continue;
    if (!offers.empty() && source.base < offers.front().key.sequence) {
      continue;
    }
    if (!offers.empty() && source.base > offers.front().key.sequence) {
      offers.clear();
    }
    offers.push_back(
        {source.holder.peer.worker,
         {kBase, source.base, Attempt(), span, source.base_hashes[index]},
         source.base_attempt});
  }
  if (offers.empty()) return false;
  if (fetches_ >= options_.fetches_max) return true;
  // Neighbouring spans start at different holders, to draw on all of them.
  const auto& [worker, key, attempt] =
      offers[(span + place.tries) % offers.size()];
  if (++place.tries % offers.size() == 0) {
    place.not_before = now + options_.retry_interval;
  }
  place.busy = true;
  place.fetching = key.sequence;
  ++fetches_;
  effects_.bulk.Fetch(
      worker, key,
      work_.Wrap([this, span, key = key, attempt = attempt](
                     Instant at, absl::StatusOr<SharedBytes> bytes) {
        --fetches_;
        if (!bytes.ok()) return OnBase(at, span, bytes.status());
        Compute(
            effects_.host,
            [piece = *bytes, options = settings_.outer,
             elements = layout_.elements(span), key = key] {
              return ReadBase(options, elements, key.sequence, key.hash,
                              piece.bytes());
            },
            work_.Wrap([this, span, attempt](Instant then,
                                             absl::StatusOr<SpanState> state) {
              if (state.ok()) {
                state->attempt = attempt;
                state->initial_hash = InitialHashAt(state->applied);
                StoredFile file{
                    kBase, state->applied, attempt, {{span, state->hash}}};
                file.initial_hash = state->initial_hash;
                KeepBase(file, {SharedBytes(state->values)});
              }
              OnBase(then, span, std::move(state));
            }));
      }));
  return true;
}

void Recovery::OnBase(Instant now, uint32_t span,
                      absl::StatusOr<SpanState> state) {
  Place& place = places_[span];
  place.busy = false;
  place.fetching.reset();
  if (state.ok()) {
    place.state = *std::move(state);
    place.tries = 0;
  } else {
    effects_.host.Event(
        absl::StrCat("span ", span, ": ", state.status().message()));
  }
  changed_(now);
}

bool Recovery::WantsInitial() const {
  for (const auto& [span, place] : places_) {
    if (!place.state && !place.busy && place.wants_initial) return true;
  }
  return false;
}

void Recovery::OnInitial(Instant now, const TrainerMemory& memory) {
  for (uint32_t span = begin_; span < end_; ++span) {
    Place& place = places_[span];
    if (place.state || place.busy || !place.wants_initial) continue;
    place.busy = true;
    place.wants_initial = false;
    from_initial_ = true;
    Compute(
        effects_.host,
        [memory, options = settings_.outer, range = layout_.spans[span]] {
          return InitialState(options,
                              memory.values.subspan(range.begin, range.size()));
        },
        work_.Wrap([this, span](Instant at, SpanState state) {
          state.applied = begins_at_;
          state.initial_hash = InitialHashAt(begins_at_);
          OnBase(at, span, std::move(state));
          if (from_initial_ && ready()) {
            from_initial_ = false;
            StoreBase();
          }
        }));
  }
  changed_(now);
}

void Recovery::OnStored(const StoredFile& file) { history_.AddFile(file); }

void Recovery::StoreBase() {
  SKERRY_CHECK(ready());
  StoredFile file{kBase, applied(), applied_attempt(), {}};
  std::vector<SharedBytes> contents;
  bool stored = true;
  for (const auto& [span, place] : places_) {
    file.initial_hash = std::max(file.initial_hash, place.state->initial_hash);
    file.pieces.push_back({span, place.state->hash});
    contents.push_back(SharedBytes(place.state->values));
    stored = stored && history_.FindPiece({kBase, file.sequence, Attempt(),
                                           span, place.state->hash}) != nullptr;
  }
  if (stored) return;
  KeepBase(file, std::move(contents));
}

void Recovery::KeepBase(const StoredFile& file,
                        std::vector<SharedBytes> contents) {
  effects_.disk.Store(
      file, std::move(contents),
      disk_.Wrap([this, file](Instant now, absl::Status status) {
        const bool of_others = file.initial_hash != 0 && initial_hash_ != 0 &&
                               file.initial_hash != initial_hash_;
        if (of_others || IsLost(kept_, file.sequence, file.attempt)) {
          effects_.disk.Delete(file);
        } else if (status.ok()) {
          OnStored(file);
        }
        changed_(now);
      }));
}

void Recovery::Discard(const StoredFile& file) {
  history_.RemoveFile(file);
  effects_.disk.Delete(file);
}

absl::StatusOr<SharedBytes> Recovery::Find(const PieceKey& key) const {
  const StoredFile* file = history_.FindPiece(key);
  if (file == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        options_.worker, " does not hold span ", key.span, " of ",
        key.kind == kBase ? "base " : "result ", key.sequence.value()));
  }
  return effects_.disk.Map(*file, key.span);
}

absl::StatusOr<SharedBytes> Recovery::Read(const PieceKey& key) {
  auto bytes = Find(key);
  if (!bytes.ok()) {
    // Anything else may pass.
    if (absl::IsNotFound(bytes.status()) || absl::IsDataLoss(bytes.status())) {
      OnRotten(key);
    }
    return bytes;
  }
  Compute(
      effects_.host, [bytes = *bytes] { return Hash64(bytes.bytes()); },
      disk_.Wrap([this, key](Instant now, uint64_t hash) {
        if (hash == key.hash) return;
        OnRotten(key);
        changed_(now);
      }));
  return bytes;
}

void Recovery::OnRotten(const PieceKey& key) {
  const StoredFile* file = history_.FindPiece(key);
  if (file == nullptr) return;
  effects_.host.Event(absl::StrCat(key.kind == kBase ? "base " : "result ",
                                   key.sequence.value(), " span ", key.span,
                                   ": it is damaged on the disk"));
  Discard(StoredFile(*file));
  rotten_ = std::max(rotten_.value_or(Sequence()), key.sequence);
  ReplaceRotten();
  effects_.host.StatusChanged();
}

void Recovery::OnFolderGone() {
  history_.ForgetAllFiles();
  if (!rotten_.has_value()) rotten_ = Sequence();
  ReplaceRotten();
}

void Recovery::ReplaceRotten() {
  if (!rotten_.has_value() || !ready() || applied() < *rotten_) return;
  rotten_.reset();
  StoreBase();
}

Sequence Recovery::FoldedOldest() const {
  std::optional<Sequence> oldest;
  for (const auto& [span, place] : places_) {
    if (!place.state) continue;
    oldest =
        oldest ? std::min(*oldest, place.state->applied) : place.state->applied;
  }
  return oldest.value_or(Sequence());
}

bool Recovery::ready() const {
  if (begin_ == end_ || folds_ > 0) return false;
  for (const auto& [span, place] : places_) {
    if (!place.state) return false;
    if (place.state->applied != places_.begin()->second.state->applied) {
      return false;
    }
  }
  return true;
}

Sequence Recovery::applied() const {
  for (const auto& [span, place] : places_) {
    if (!place.state) return Sequence();
  }
  return FoldedOldest();
}

Attempt Recovery::applied_attempt() const {
  if (!ready()) return Attempt();
  const Attempt attempt = places_.begin()->second.state->attempt;
  for (const auto& [span, place] : places_) {
    if (place.state->attempt != attempt) return Attempt();
  }
  return attempt;
}

Sequence Recovery::stored_through() const {
  if (begin_ == end_) return Sequence();
  for (const auto& [span, place] : places_) {
    if (!place.state) return Sequence();
  }
  return history_.StoredThrough(applied(), begin_, end_);
}

Sequence Recovery::pin() const {
  std::optional<Sequence> oldest;
  for (const auto& [span, place] : places_) {
    if (!place.fetching && !place.state) continue;
    const Sequence from =
        place.fetching ? *place.fetching : place.state->applied;
    oldest = oldest ? std::min(*oldest, from) : from;
  }
  return oldest.value_or(Sequence());
}

std::optional<uint64_t> Recovery::samples_committed() const {
  if (samples_committed_.first.is_set() &&
      samples_committed_.first == applied()) {
    return samples_committed_.second;
  }
  if (ready() && applied() <= begins_at_) return settings_.samples_before;
  return std::nullopt;
}

const SpanState* Recovery::StateOf(uint32_t span) const {
  const auto it = places_.find(span);
  return it == places_.end() || !it->second.state ? nullptr
                                                  : &*it->second.state;
}

}  // namespace skerry::worker
