#include "transport/tcp/call_flow.h"

#include <algorithm>

#include "base/check.h"

namespace skerry::transport {
namespace {

// Segments whose contributions are on their way before the first result is: the
// wire has work while the slowest contribution is waited for.
constexpr size_t kAhead = 8;
// Parts begin on cache lines, so that two members' sums touch none together.
constexpr size_t kCacheLineElements = 16;
// Summed at a time: what all members give fits a first-level cache.
constexpr size_t kSumElements = 1024;

// Adds in pieces of a fixed length, which compilers turn into vector code.
void Add(float* __restrict sum, const float* __restrict addend, size_t count) {
  size_t i = 0;
  for (; i + kCacheLineElements <= count; i += kCacheLineElements) {
    for (size_t k = 0; k < kCacheLineElements; ++k) sum[i + k] += addend[i + k];
  }
  for (; i < count; ++i) sum[i] += addend[i];
}

}  // namespace

AllReduceFlow::AllReduceFlow(int rank, int size, std::span<float> values,
                             ReduceStaging& staging)
    : rank_(rank),
      size_(size),
      values_(values),
      segment_elements_(kPartElements * static_cast<size_t>(size)),
      segments_((values.size() + segment_elements_ - 1) / segment_elements_),
      slots_(std::min(kAhead, segments_)),
      peers_(static_cast<size_t>(size)) {
  SKERRY_CHECK(size >= 2 && rank >= 0 && rank < size);
  const size_t needed = slots_ * static_cast<size_t>(size) * kPartElements;
  if (staging.elements < needed) {
    // Not cleared: every value is written before it is read.
    staging.memory.reset(new float[needed]);
    staging.elements = needed;
  }
  staging_ = staging.memory.get();
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    Settle(peers_[static_cast<size_t>(peer)].out, peer, rank);
    Settle(peers_[static_cast<size_t>(peer)].in, rank, peer);
  }
  SumWhatIsComplete();  // of parts without elements
}

std::span<float> AllReduceFlow::Part(size_t segment, int rank) const {
  const size_t begin = segment * segment_elements_;
  const std::span<float> all = values_.subspan(
      begin, std::min(segment_elements_, values_.size() - begin));
  const size_t lines =
      (all.size() + kCacheLineElements - 1) / kCacheLineElements;
  const auto edge = [&](int r) {
    return std::min(all.size(), lines * static_cast<size_t>(r) /
                                    static_cast<size_t>(size_) *
                                    kCacheLineElements);
  };
  return all.subspan(edge(rank), edge(rank + 1) - edge(rank));
}

std::span<float> AllReduceFlow::Staged(size_t segment, int rank) const {
  const size_t slot = (segment % slots_) * static_cast<size_t>(size_) +
                      static_cast<size_t>(rank);
  return {staging_ + slot * kPartElements, Part(segment, rank_).size()};
}

bool AllReduceFlow::AtContribution(const Cursor& cursor, size_t segments) {
  return cursor.contributions < segments &&
         cursor.contributions < cursor.results + kAhead;
}

void AllReduceFlow::Settle(Cursor& cursor, int contributes_to,
                           int results_of) const {
  while (true) {
    const bool contribution = AtContribution(cursor, segments_);
    size_t& segment = contribution ? cursor.contributions : cursor.results;
    if (segment == segments_) return;
    const std::span<float> part =
        Part(segment, contribution ? contributes_to : results_of);
    if (cursor.offset < part.size_bytes()) return;
    cursor.offset = 0;
    ++segment;
  }
}

std::span<const std::byte> AllReduceFlow::ToSend(int rank) {
  const Cursor& out = peers_[static_cast<size_t>(rank)].out;
  if (AtContribution(out, segments_)) {
    return std::as_bytes(Part(out.contributions, rank)).subspan(out.offset);
  }
  if (out.results >= summed_) return {};
  return std::as_bytes(Part(out.results, rank_)).subspan(out.offset);
}

void AllReduceFlow::OnSent(int rank, size_t bytes) {
  Cursor& out = peers_[static_cast<size_t>(rank)].out;
  out.offset += bytes;
  Settle(out, rank, rank_);
}

std::span<std::byte> AllReduceFlow::ToReceive(int rank) {
  const Cursor& in = peers_[static_cast<size_t>(rank)].in;
  if (AtContribution(in, segments_)) {
    // Its slot still holds a contribution that has not been summed.
    if (in.contributions >= summed_ + slots_) return {};
    return std::as_writable_bytes(Staged(in.contributions, rank))
        .subspan(in.offset);
  }
  if (in.results == segments_) return {};
  // The rank has summed, so it has what this member contributed.
  return std::as_writable_bytes(Part(in.results, rank)).subspan(in.offset);
}

void AllReduceFlow::OnReceived(int rank, size_t bytes) {
  Cursor& in = peers_[static_cast<size_t>(rank)].in;
  in.offset += bytes;
  Settle(in, rank_, rank);
  SumWhatIsComplete();
}

void AllReduceFlow::SumWhatIsComplete() {
  while (summed_ < segments_) {
    for (int peer = 0; peer < size_; ++peer) {
      if (peer == rank_) continue;
      if (peers_[static_cast<size_t>(peer)].in.contributions <= summed_) return;
    }
    const std::span<float> own = Part(summed_, rank_);
    for (size_t at = 0; at < own.size(); at += kSumElements) {
      const size_t count = std::min(kSumElements, own.size() - at);
      float* const here = own.data() + at;
      // What has been added so far; from this member's rank on it is in place.
      float* sum = rank_ == 0 ? here : Staged(summed_, 0).data() + at;
      for (int rank = 1; rank < size_; ++rank) {
        if (rank == rank_) {
          Add(here, sum, count);
          sum = here;
        } else {
          Add(sum, Staged(summed_, rank).data() + at, count);
        }
      }
    }
    ++summed_;
  }
}

bool AllReduceFlow::IsDone() const {
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    const Peer& one = peers_[static_cast<size_t>(peer)];
    if (one.out.results < segments_ || one.in.results < segments_) return false;
  }
  return true;
}

BroadcastFlow::BroadcastFlow(int rank, int size, int root,
                             std::span<std::byte> values)
    : values_(values) {
  if (rank != root) previous_ = (rank + size - 1) % size;
  if ((rank + 1) % size != root) next_ = (rank + 1) % size;
  if (rank == root) received_ = values.size();
}

std::span<const std::byte> BroadcastFlow::ToSend(int rank) {
  if (rank != next_) return {};
  return values_.first(received_).subspan(sent_);
}

std::span<std::byte> BroadcastFlow::ToReceive(int rank) {
  if (rank != previous_) return {};
  return values_.subspan(received_);
}

bool BroadcastFlow::IsDone() const {
  return received_ == values_.size() && (next_ < 0 || sent_ == values_.size());
}

std::span<const std::byte> PiecesFlow::ToSend(int rank) {
  return to_[static_cast<size_t>(rank)];
}

void PiecesFlow::OnSent(int rank, size_t bytes) {
  auto& left = to_[static_cast<size_t>(rank)];
  left = left.subspan(bytes);
}

std::span<std::byte> PiecesFlow::ToReceive(int rank) {
  return from_[static_cast<size_t>(rank)];
}

void PiecesFlow::OnReceived(int rank, size_t bytes) {
  auto& left = from_[static_cast<size_t>(rank)];
  left = left.subspan(bytes);
}

bool PiecesFlow::IsDone() const {
  const auto is_empty = [](const auto& left) { return left.empty(); };
  return std::all_of(to_.begin(), to_.end(), is_empty) &&
         std::all_of(from_.begin(), from_.end(), is_empty);
}

}  // namespace skerry::transport
