#include "data/tokenizer/bpe_model.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"

namespace skerry::data {
namespace {

constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();
// Up to here looking at all pairs is faster than a heap.
constexpr size_t kFewBytes = 32;

uint64_t PairKey(int32_t left, int32_t right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 |
         static_cast<uint32_t>(right);
}

}  // namespace

absl::StatusOr<BpeModel> BpeModel::Create(Parts parts) {
  BpeModel model(std::move(parts));
  const std::vector<MergeRule>& rules = model.parts_.merges;
  model.merges_.reserve(rules.size());
  for (size_t rank = 0; rank < rules.size(); ++rank) {
    const MergeRule& rule = rules[rank];
    const bool is_new =
        model.merges_
            .try_emplace(PairKey(rule.left, rule.right),
                         Merge{static_cast<uint32_t>(rank), rule.result})
            .second;
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat("merge ", rank,
                       " joins a pair that an earlier one "
                       "joins"));
    }
  }
  return model;
}

const BpeModel::Merge* BpeModel::Find(int32_t left, int32_t right) const {
  const auto found = merges_.find(PairKey(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

uint32_t BpeModel::RankOf(int32_t left, int32_t right) const {
  const Merge* merge = Find(left, right);
  return merge == nullptr ? kNever : merge->rank;
}

void BpeModel::Encode(std::string_view piece, Scratch& scratch,
                      std::vector<int32_t>& out) const {
  SKERRY_CHECK(piece.size() < kNever);
  if (!parts_.whole_pieces.empty()) {
    const auto found =
        parts_.whole_pieces.find(absl::string_view(piece.data(), piece.size()));
    if (found != parts_.whole_pieces.end()) {
      out.push_back(found->second);
      return;
    }
  }
  scratch.tokens.clear();
  for (const char byte : piece) {
    scratch.tokens.push_back(parts_.byte_tokens[static_cast<uint8_t>(byte)]);
  }
  if (piece.size() <= kFewBytes) {
    MergeFew(scratch);
  } else if (!merges_.empty()) {
    MergeMany(scratch);
  }
  out.insert(out.end(), scratch.tokens.begin(), scratch.tokens.end());
}

void BpeModel::MergeFew(Scratch& scratch) const {
  std::vector<int32_t>& tokens = scratch.tokens;
  std::vector<uint32_t>& ranks = scratch.ranks;
  ranks.clear();
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    ranks.push_back(RankOf(tokens[i], tokens[i + 1]));
  }
  while (!ranks.empty()) {
    const auto best = std::min_element(ranks.begin(), ranks.end());
    if (*best == kNever) break;
    const auto at = static_cast<size_t>(best - ranks.begin());
    tokens[at] = parts_.merges[*best].result;
    tokens.erase(tokens.begin() + static_cast<ptrdiff_t>(at) + 1);
    ranks.erase(best);
    if (at > 0) ranks[at - 1] = RankOf(tokens[at - 1], tokens[at]);
    if (at < ranks.size()) ranks[at] = RankOf(tokens[at], tokens[at + 1]);
  }
}

// `after` and `before` link the tokens that are left; ranks[i] is that of token
// i and the one after it. A heap entry is a rank and a place; it is stale when
// the place has another rank by now.
void BpeModel::MergeMany(Scratch& scratch) const {
  std::vector<int32_t>& tokens = scratch.tokens;
  const auto count = static_cast<uint32_t>(tokens.size());
  scratch.ranks.assign(count, kNever);
  scratch.before.resize(count);
  scratch.after.resize(count);
  scratch.heap.clear();
  const auto push = [&](uint32_t at) {
    const uint32_t next = scratch.after[at];
    scratch.ranks[at] =
        next == count ? kNever : RankOf(tokens[at], tokens[next]);
    if (scratch.ranks[at] == kNever) return;
    scratch.heap.push_back(static_cast<uint64_t>(scratch.ranks[at]) << 32 | at);
    std::push_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
  };
  for (uint32_t i = 0; i < count; ++i) {
    scratch.before[i] = i - 1;
    scratch.after[i] = i + 1;
  }
  for (uint32_t i = 0; i < count; ++i) push(i);
  while (!scratch.heap.empty()) {
    std::pop_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
    const uint64_t top = scratch.heap.back();
    scratch.heap.pop_back();
    const auto at = static_cast<uint32_t>(top);
    if (scratch.ranks[at] != top >> 32) continue;
    const uint32_t gone = scratch.after[at];
    tokens[at] = parts_.merges[scratch.ranks[at]].result;
    scratch.ranks[gone] = kNever;
    scratch.after[at] = scratch.after[gone];
    if (scratch.after[at] != count) scratch.before[scratch.after[at]] = at;
    push(at);
    if (at > 0) push(scratch.before[at]);
  }
  // A place never moves left of where its token was, so this can be in place.
  size_t left = 0;
  for (uint32_t at = 0; at < count; at = scratch.after[at]) {
    tokens[left++] = tokens[at];
  }
  tokens.resize(left);
}

}  // namespace skerry::data
