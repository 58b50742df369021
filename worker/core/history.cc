#include "worker/core/history.h"

#include <algorithm>
#include <utility>

namespace skerry::worker {
namespace {

constexpr auto kBase = PieceKey::Kind::kBase;
constexpr auto kResult = PieceKey::Kind::kResult;

const StoredFile::Piece* PieceOf(const StoredFile& file, uint32_t span) {
  const auto it = std::lower_bound(file.pieces.begin(), file.pieces.end(), span,
                                   [](const StoredFile::Piece& piece,
                                      uint32_t s) { return piece.span < s; });
  return it != file.pieces.end() && it->span == span ? &*it : nullptr;
}

}  // namespace

History::FileKey History::KeyOf(const StoredFile& file) {
  const Attempt attempt = file.kind == kBase ? Attempt() : file.attempt;
  FileKey key{file.kind, file.sequence, attempt, file.initial_hash};
  if (!file.pieces.empty()) {
    key.first_span = file.pieces.front().span;
    key.last_span = file.pieces.back().span;
  }
  return key;
}

History::History(const std::vector<StoredFile>& on_disk) {
  for (const StoredFile& file : on_disk) AddFile(file);
}

void History::AddCommitted(const std::vector<CommittedEntry>& entries) {
  for (const CommittedEntry& entry : entries) {
    if (committed_.emplace(entry.sequence, entry).second) answers_ = {};
  }
}

const CommittedEntry* History::Find(Sequence sequence) const {
  const auto it = committed_.find(sequence);
  return it == committed_.end() ? nullptr : &it->second;
}

void History::ForgetThrough(Sequence sequence) {
  const auto end = committed_.upper_bound(sequence);
  if (end == committed_.begin()) return;
  committed_.erase(committed_.begin(), end);
  answers_ = {};
}

bool History::ForgetLost(const std::vector<CommittedEntry>& committed,
                         Sequence newest) {
  auto begin = committed_.upper_bound(newest);
  for (const CommittedEntry& entry : committed) {
    const auto known = committed_.find(entry.sequence);
    if (known == committed_.end() || known->second.attempt == entry.attempt) {
      continue;
    }
    begin = known;
    break;
  }
  if (begin == committed_.end()) return false;
  committed_.erase(begin, committed_.end());
  answers_ = {};
  return true;
}

std::vector<StoredFile> History::TakeLost(const KeptState& kept) {
  const auto begin = std::find_if(
      committed_.begin(), committed_.end(), [&kept](const auto& one) {
        return IsLost(kept, one.first, one.second.attempt);
      });
  committed_.erase(begin, committed_.end());
  std::vector<StoredFile> lost;
  for (auto it = files_.begin(); it != files_.end();) {
    const StoredFile& file = it->second;
    if (file.kind == kBase && IsLost(kept, file.sequence, file.attempt)) {
      lost.push_back(file);
      it = files_.erase(it);
    } else {
      ++it;
    }
  }
  answers_ = {};
  return lost;
}

std::vector<StoredFile> History::TakeOfOtherValues(uint64_t initial_hash,
                                                   Sequence begins_at,
                                                   bool unnamed) {
  for (const StoredFile& file : std::exchange(set_aside_, {})) AddFile(file);
  std::vector<StoredFile> taken;
  for (auto it = files_.begin(); it != files_.end();) {
    const StoredFile& file = it->second;
    const bool other = file.initial_hash == 0
                           ? unnamed && !file.attempt.is_set()
                           : file.initial_hash != initial_hash;
    if (file.kind == kBase && file.sequence <= begins_at && other) {
      taken.push_back(file);
      it = files_.erase(it);
    } else {
      ++it;
    }
  }
  answers_ = {};
  if (last_result().first <= begins_at) return taken;
  set_aside_ = std::move(taken);
  return {};
}

void History::AddFile(const StoredFile& file) {
  files_[KeyOf(file)] = file;
  answers_ = {};
}

void History::RemoveFile(const StoredFile& file) {
  files_.erase(KeyOf(file));
  answers_ = {};
}

void History::ForgetAllFiles() {
  files_.clear();
  set_aside_.clear();
  answers_ = {};
}

const StoredFile* History::FindPiece(const PieceKey& key) const {
  auto it = files_.lower_bound({key.kind, key.sequence, key.attempt});
  for (; it != files_.end(); ++it) {
    const StoredFile& file = it->second;
    if (file.kind != key.kind || file.sequence != key.sequence ||
        it->first.attempt != key.attempt) {
      return nullptr;
    }
    const StoredFile::Piece* piece = PieceOf(file, key.span);
    if (piece != nullptr && piece->hash == key.hash) return &file;
  }
  return nullptr;
}

std::optional<PieceKey> History::NewestBase(uint32_t span,
                                            Sequence from) const {
  std::optional<PieceKey> newest;
  for (auto it = files_.lower_bound({kBase, from, Attempt()});
       it != files_.end() && it->second.kind == kBase; ++it) {
    const StoredFile::Piece* piece = PieceOf(it->second, span);
    if (piece == nullptr) continue;
    newest = PieceKey{kBase, it->second.sequence, Attempt(), span, piece->hash};
  }
  return newest;
}

uint64_t History::initial_hash() const {
  uint64_t newest = 0;
  for (const auto& [key, file] : files_) {
    if (file.initial_hash != 0) newest = file.initial_hash;
  }
  return newest;
}

std::pair<Sequence, Attempt> History::last_result() const {
  std::pair<Sequence, Attempt> last;
  for (const auto& [key, file] : files_) {
    if (file.kind != kResult) continue;
    last = std::max(last, std::pair(file.sequence, file.attempt));
  }
  return last;
}

Attempt History::highest_attempt() const {
  Attempt highest;
  for (const auto& [key, file] : files_) {
    highest = std::max(highest, file.attempt);
  }
  return highest;
}

bool History::HasResult(Sequence sequence, uint32_t begin, uint32_t end) const {
  const CommittedEntry* entry = Find(sequence);
  if (entry == nullptr || entry->hashes.size() < end) return false;
  for (uint32_t span = begin; span < end; ++span) {
    if (FindPiece({kResult, sequence, entry->attempt, span,
                   entry->hashes[span]}) == nullptr) {
      return false;
    }
  }
  return true;
}

Sequence History::StoredThrough(Sequence applied, uint32_t begin,
                                uint32_t end) const {
  return Ask(answers_.stored_through, {applied, begin, end}, [&] {
    Sequence through = applied;
    while (HasResult(Next(through), begin, end)) through = Next(through);
    return through;
  });
}

const std::vector<HeldBase>& History::Bases(uint32_t begin,
                                            uint32_t end) const {
  return Ask(answers_.bases, {Sequence(), begin, end},
             [&] { return FindBases(begin, end); });
}

const std::vector<HeldBase>& History::BasesBeside(uint32_t begin,
                                                  uint32_t end) const {
  return Ask(answers_.beside, {Sequence(), begin, end},
             [&] { return FindBasesBeside(begin, end); });
}

std::vector<const StoredFile*> History::BaseFiles() const {
  const uint64_t shown = initial_hash();
  std::vector<const StoredFile*> bases;
  for (const auto& [key, file] : files_) {
    if (file.kind != kBase) continue;
    if (file.initial_hash != 0 && file.initial_hash != shown) continue;
    bases.push_back(&file);
  }
  return bases;
}

std::vector<HeldBase> History::FindBases(uint32_t begin, uint32_t end) const {
  struct Pieces {
    absl::btree_map<uint32_t, uint64_t> hashes;  // by span
    Attempt attempt;
  };
  absl::btree_map<Sequence, Pieces> all;
  for (const StoredFile* file : BaseFiles()) {
    for (const StoredFile::Piece& piece : file->pieces) {
      if (piece.span < begin || piece.span >= end) continue;
      Pieces& pieces = all[file->sequence];
      pieces.hashes[piece.span] = piece.hash;
      pieces.attempt = std::max(pieces.attempt, file->attempt);
    }
  }
  std::vector<HeldBase> bases;
  for (const auto& [sequence, pieces] : all) {
    if (pieces.hashes.size() != end - begin) continue;
    HeldBase base{sequence, begin, {}, pieces.attempt};
    for (const auto& [span, hash] : pieces.hashes) base.hashes.push_back(hash);
    bases.push_back(std::move(base));
  }
  return bases;
}

std::vector<HeldBase> History::FindBasesBeside(uint32_t begin,
                                               uint32_t end) const {
  struct Piece {
    Sequence sequence;
    uint64_t hash = 0;
    Attempt attempt;
  };
  absl::btree_map<uint32_t, Piece> newest;
  for (const StoredFile* file : BaseFiles()) {
    for (const StoredFile::Piece& piece : file->pieces) {
      if (piece.span >= begin && piece.span < end) continue;
      Piece& one = newest[piece.span];
      if (file->sequence < one.sequence) continue;
      one = {file->sequence, piece.hash, file->attempt};
    }
  }
  std::vector<HeldBase> bases;
  for (const auto& [span, one] : newest) {
    if (bases.empty() || bases.back().sequence != one.sequence ||
        bases.back().attempt != one.attempt ||
        bases.back().span_begin + bases.back().hashes.size() != span) {
      bases.push_back({one.sequence, span, {}, one.attempt});
    }
    bases.back().hashes.push_back(one.hash);
  }
  return bases;
}

Sequence History::FirstResultKept(Sequence last, uint32_t begin,
                                  uint32_t end) const {
  return Ask(answers_.first_kept, {last, begin, end}, [&] {
    Sequence first;
    for (Sequence at = last;
         begin < end && at.is_set() && HasResult(at, begin, end);
         at = Sequence(at.value() - 1)) {
      first = at;
    }
    return first;
  });
}

std::vector<StoredFile> History::TakeDeletable(Sequence keep_from) {
  std::vector<StoredFile> deletable;
  const size_t before = files_.size();
  for (auto it = files_.begin(); it != files_.end();) {
    const StoredFile& file = it->second;
    bool free = false;
    if (file.kind == kBase) {
      free = file.sequence < keep_from;
    } else {
      const CommittedEntry* entry = Find(file.sequence);
      free = file.sequence <= keep_from ||
             (entry != nullptr && entry->attempt != file.attempt);
    }
    if (free) {
      deletable.push_back(file);
      it = files_.erase(it);
    } else {
      ++it;
    }
  }
  if (files_.size() != before) answers_ = {};
  std::erase_if(set_aside_, [&](const StoredFile& file) {
    if (file.sequence >= keep_from) return false;
    deletable.push_back(file);
    return true;
  });
  return deletable;
}

}  // namespace skerry::worker
