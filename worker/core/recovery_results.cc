// The results between a state and the newest commit: who has them, fetching
// them, storing them.
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "worker/core/recovery.h"

namespace skerry::worker {
namespace {

constexpr auto kResult = PieceKey::Kind::kResult;
// Results held in memory at once while fetching.
constexpr uint64_t kResultsAhead = 4;
// So often is each of those that offer a result asked before others are, and so
// many intervals pass before that when nobody offers it.
constexpr size_t kCyclesMax = 4;

}  // namespace

bool Recovery::Needs(uint32_t span, const CommittedEntry& entry) const {
  const SpanState* state = StateOf(span);
  return state != nullptr && state->applied < entry.sequence &&
         history_.FindPiece({kResult, entry.sequence, entry.attempt, span,
                             entry.hashes[span]}) == nullptr;
}

bool Recovery::HasNeeded(const CommittedEntry& entry) const {
  for (uint32_t span = begin_; span < end_; ++span) {
    if (Needs(span, entry)) return false;
  }
  return true;
}

void Recovery::PumpResults(Instant now) {
  absl::erase_if(missing_, [&](const auto& one) {
    const CommittedEntry* entry = history_.Find(one.first);
    return one.first <= FoldedOldest() || entry == nullptr || HasNeeded(*entry);
  });
  gap_.reset();
  if (begin_ == end_) return;
  for (const auto& [span, place] : places_) {
    if (!place.state) return;
  }
  uint64_t asked = 0;
  for (Sequence next = Next(FoldedOldest()); asked < kResultsAhead;
       next = Next(next)) {
    const CommittedEntry* entry = history_.Find(next);
    if (entry == nullptr) return;
    if (HasNeeded(*entry)) continue;
    ++asked;
    if (entry->attempt == hold_.first && now < hold_.second) {
      WakeAt(hold_.second);
      continue;
    }
    FetchResult(now, *entry);
  }
}

std::vector<std::string> Recovery::HoldersOf(const CommittedEntry& entry,
                                             uint32_t span,
                                             const Missing& missing) const {
  std::vector<std::string> names;
  const auto denied = missing.denied.find(span);
  for (const Source& source : sources_) {
    if (source.holder.Holds(span) && source.results_from.is_set() &&
        source.results_from <= entry.sequence &&
        entry.sequence <= source.results_through) {
      names.push_back(source.holder.peer.worker);
    }
  }
  if (peers_.first == entry.attempt) {
    for (const SpanHolder& holder : peers_.second) {
      if (!holder.Holds(span)) continue;
      const std::string& worker = holder.peer.worker;
      // It has stored it and deleted it since, or it never had it.
      if (denied != missing.denied.end() && denied->second.contains(worker)) {
        continue;
      }
      names.push_back(worker);
    }
  }
  return names;
}

std::vector<std::string> Recovery::Everyone() const {
  absl::btree_set<std::string> names;
  for (const SpanHolder& holder : neighbours_) {
    names.insert(holder.peer.worker);
  }
  for (const Source& source : sources_) {
    names.insert(source.holder.peer.worker);
  }
  return {names.begin(), names.end()};
}

bool Recovery::NewerBaseHeld(Sequence result, uint32_t span) const {
  return absl::c_any_of(sources_, [&](const Source& source) {
    return source.base >= result && source.holder.Holds(span);
  });
}

void Recovery::FetchResult(Instant now, const CommittedEntry& entry) {
  const auto [it, fresh] = missing_.try_emplace(entry.sequence);
  Missing& missing = it->second;
  if (fresh) missing.since = now;
  // Those that it still lacked may have come to need it no more.
  if (!missing.got.empty()) StoreFetched(entry.sequence);
  if (missing.storing) return;
  const Instant patience = missing.since + kCyclesMax * options_.retry_interval;
  for (uint32_t span = begin_; span < end_; ++span) {
    if (!Needs(span, entry) || missing.got.contains(span) ||
        missing.busy[span]) {
      continue;
    }
    if (missing.not_before[span] > now) {
      WakeAt(missing.not_before[span]);
      continue;
    }
    if (fetches_ >= options_.fetches_max) return;
    std::vector<std::string> names = HoldersOf(entry, span, missing);
    size_t& tries = missing.tries[span];
    // Who offers it may have lost it; but a life does not end because peers
    // cannot be reached.
    const bool offered = !names.empty();
    if (!offered || (replaceable_ && tries >= kCyclesMax * names.size())) {
      if (OnGap(entry, span)) continue;
      // Most often the word that somebody has it is on its way.
      if (!offered && now < patience) {
        WakeAt(patience);
        continue;
      }
      names = Everyone();
    }
    if (names.empty()) continue;
    const std::string worker = names[(span + tries) % names.size()];
    if (++tries % names.size() == 0) {
      missing.not_before[span] = now + options_.retry_interval;
    }
    missing.busy[span] = true;
    FetchPiece(entry, span, worker);
  }
}

// Where nobody keeps a result, only a newer base leads on. keep_from_ alone
// does not tell: it falls to 0 when the bases of all lives have nothing in
// common.
bool Recovery::OnGap(const CommittedEntry& entry, uint32_t span) {
  const bool gone = !sources_.empty() && (entry.sequence <= keep_from_ ||
                                          NewerBaseHeld(entry.sequence, span));
  if (!replaceable_) {
    if (!gap_ && gone) gap_ = entry.sequence;
    return gone;
  }
  Place& place = places_[span];
  if (!gone || folds_ > 0 || place.busy) return gone;
  effects_.host.Event(absl::StrCat("span ", span, ": nobody keeps result ",
                                   entry.sequence.value(),
                                   "; it starts again from a newer base"));
  place.state.reset();
  place.least_base = entry.sequence;  // the own has the same gap
  return true;
}

void Recovery::FetchPiece(const CommittedEntry& entry, uint32_t span,
                          const std::string& worker) {
  ++fetches_;
  const PieceKey key{kResult, entry.sequence, entry.attempt, span,
                     entry.hashes[span]};
  effects_.bulk.Fetch(
      worker, key,
      work_.Wrap(
          [this, key, worker](Instant now, absl::StatusOr<SharedBytes> bytes) {
            --fetches_;
            const auto missing = missing_.find(key.sequence);
            if (missing != missing_.end()) {
              missing->second.busy[key.span] = false;
              if (bytes.ok() && Hash64(bytes->bytes()) == key.hash) {
                missing->second.got[key.span] = *std::move(bytes);
                StoreFetched(key.sequence);
              } else {
                if (absl::IsNotFound(bytes.status())) {
                  missing->second.denied[key.span].insert(worker);
                }
                effects_.host.Event(absl::StrCat(
                    "result ", key.sequence.value(), " span ", key.span, ": ",
                    bytes.ok() ? "the bytes have another hash"
                               : bytes.status().message()));
              }
            }
            changed_(now);
          }));
}

void Recovery::StoreFetched(Sequence sequence) {
  const CommittedEntry* entry = history_.Find(sequence);
  Missing& missing = missing_[sequence];
  if (entry == nullptr || missing.storing) return;
  for (uint32_t span = begin_; span < end_; ++span) {
    if (Needs(span, *entry) && !missing.got.contains(span)) return;
  }
  StoredFile file{kResult, sequence, entry->attempt, {}};
  std::vector<SharedBytes> contents;
  for (const auto& [span, bytes] : missing.got) {
    // A file has no gap: what lies behind one is stored after it.
    if (!file.pieces.empty() && file.pieces.back().span + 1 != span) break;
    file.pieces.push_back({span, entry->hashes[span]});
    contents.push_back(bytes);
  }
  if (file.pieces.empty()) return;
  missing.storing = file;
  effects_.disk.Store(
      file, std::move(contents),
      disk_.Wrap([this, file](Instant now, absl::Status status) {
        if (status.ok()) OnStored(file);
        OnFetchedStored(file);
        changed_(now);
      }));
}

void Recovery::KeepWhereStuck(Instant now) {
  if (!replaceable_ || !ready() || stuck_at_ == applied()) return;
  const auto it = missing_.find(Next(applied()));
  if (it == missing_.end()) return;
  const Missing& missing = it->second;
  const bool coming =
      missing.storing || !missing.got.empty() ||
      absl::c_any_of(missing.busy, [](const auto& one) { return one.second; });
  if (coming || now < missing.since + kCyclesMax * options_.retry_interval) {
    return;
  }
  stuck_at_ = applied();
  StoreBase();
}

// A span may have come to need the result while the others' pieces were being
// stored.
void Recovery::OnFetchedStored(const StoredFile& file) {
  const auto missing = missing_.find(file.sequence);
  if (missing == missing_.end() || missing->second.storing != file) return;
  missing->second.storing.reset();
  for (const StoredFile::Piece& piece : file.pieces) {
    missing->second.got.erase(piece.span);
  }
  StoreFetched(file.sequence);
}

}  // namespace skerry::worker
