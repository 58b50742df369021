// Any bytes as what a member of a two-phase all-reduce is given, lengths
// included: it always makes the same calls, what is refused leaves no trace,
// what is accepted stays finite.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/collective.h"
#include "research/reduce/one_bit_all_reduce.h"

namespace skerry::compression {
namespace {

constexpr int kMembers = 3;

// The input, byte by byte; zeros after its end.
class Input {
 public:
  explicit Input(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  size_t Byte() {
    if (bytes_.empty()) return 0;
    const std::byte first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return std::to_integer<size_t>(first);
  }

 private:
  std::span<const std::byte> bytes_;
};

// Members that all have what this one has, until the input changes bytes of
// what they send.
class HostileGroup final : public Collective {
 public:
  HostileGroup(Input& input, int rank) : input_(input), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return kMembers; }
  absl::Status AllReduceSum(std::span<float> values) override {
    calls += 'v';
    Change(std::as_writable_bytes(values));
    return absl::OkStatus();
  }
  absl::Status Broadcast(std::span<float>, int) override {
    calls += 'b';
    return absl::OkStatus();
  }
  absl::Status AllToAll(std::span<const std::byte> to,
                        std::span<std::byte> from) override {
    calls += 'a';
    const size_t piece = to.size() / kMembers;
    Copies(to.subspan(static_cast<size_t>(rank_) * piece, piece), from);
    return absl::OkStatus();
  }
  absl::Status AllGather(std::span<const std::byte> piece,
                         std::span<std::byte> all) override {
    calls += 'g';
    Copies(piece, all);
    return absl::OkStatus();
  }

  std::string calls;

 private:
  void Copies(std::span<const std::byte> piece, std::span<std::byte> all) {
    for (size_t at = 0; at < all.size(); at += piece.size()) {
      std::copy(piece.begin(), piece.end(), all.begin() + at);
    }
    Change(all);
  }

  // How many changes, then of each the place and the new byte.
  void Change(std::span<std::byte> bytes) {
    for (size_t left = input_.Byte() % 32; left > 0; --left) {
      const size_t at = input_.Byte() + 256 * input_.Byte();
      bytes[at % bytes.size()] = static_cast<std::byte>(input_.Byte());
    }
  }

  Input& input_;
  const int rank_;
};

std::vector<float> ErrorsOf(const OneBitAllReduce& reduce) {
  std::vector<float> all(reduce.member_error().begin(),
                         reduce.member_error().end());
  all.insert(all.end(), reduce.owner_error().begin(),
             reduce.owner_error().end());
  return all;
}

bool AllFinite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::isfinite(value); });
}

void Fuzz(std::span<const std::byte> bytes) {
  Input input(bytes);
  // Equal parts, or whatever.
  const size_t size = input.Byte();
  const size_t count = size % 2 == 0 ? 3 * 256 * (1 + size / 64) : 1 + 5 * size;
  HostileGroup group(input, static_cast<int>(input.Byte() % kMembers));
  const CodecId codec =
      input.Byte() % 2 == 0 ? CodecId::kSign1 : CodecId::kRawF32;
  auto reduce = OneBitAllReduce::Create(count, codec, group).value();
  for (int step = 0; step < 4 && (step == 0 || !input.empty()); ++step) {
    const std::vector<float> before = ErrorsOf(*reduce);
    std::vector<float> values(count, 0.5f);
    values[count / 2] = -2.0f;
    group.calls.clear();
    const bool taken = reduce->Mean(values).ok();
    SKERRY_CHECK(group.calls == "agv");
    if (taken) {
      SKERRY_CHECK(AllFinite(values));
      SKERRY_CHECK(AllFinite(ErrorsOf(*reduce)));
    } else {
      SKERRY_CHECK(ErrorsOf(*reduce) == before);
    }
  }
}

}  // namespace
}  // namespace skerry::compression

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  skerry::compression::Fuzz(std::as_bytes(std::span(data, size)));
  return 0;
}
