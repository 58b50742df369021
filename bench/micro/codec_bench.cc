// Each codec beside a loop that moves the same mix of bytes through the same
// buffers, timed in turns: the share of this machine's memory speed that the
// codec reaches. A share above 1.05 means that the bench is wrong.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "bench/micro/memory_floor.h"
#include "compression/codec.h"

namespace skerry::bench {
namespace {

using compression::Codec;
using compression::CodecId;

constexpr double kShareMin = 0.80;
constexpr double kShareMax = 1.05;

struct Sizes {
  size_t elements;
  int turns_min;
  int turns_max;
};
// Far beyond the last-level cache.
constexpr Sizes kFull = {size_t{1} << 24, 25, 400};
constexpr Sizes kQuick = {size_t{1} << 24, 5, 40};

// The two shortest of many times.
struct Best {
  double first = std::numeric_limits<double>::infinity();
  double second = first;

  void Add(double seconds) {
    if (seconds < first) std::swap(seconds, first);
    second = std::min(second, seconds);
  }
  // Whether the shortest was no accident.
  bool Settled() const { return second <= 1.01 * first; }
};

struct Row {
  std::string name;
  double bytes_per_s = 0.0;
  double floor_bytes_per_s = 0.0;
  // False when other work on the machine never let the times settle.
  bool settled = false;

  double share() const { return bytes_per_s / floor_bytes_per_s; }
  bool meets() const { return share() >= kShareMin && share() <= kShareMax; }
};

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  return taken.count();
}

// The best of both in turns, so that a change of clock or a busy neighbour
// meets both alike; more turns while either has been undisturbed only once.
Row Compare(std::string name, const Sizes& sizes, double bytes,
            double floor_bytes, const std::function<void()>& codec,
            const std::function<void()>& floor) {
  codec();  // touches every page
  floor();
  Best best;
  Best best_floor;
  for (int turn = 0; turn < sizes.turns_max; ++turn) {
    const bool codec_first = turn % 2 == 0;
    if (codec_first) best.Add(Seconds(codec));
    best_floor.Add(Seconds(floor));
    if (!codec_first) best.Add(Seconds(codec));
    if (turn + 1 >= sizes.turns_min && best.Settled() && best_floor.Settled()) {
      break;
    }
  }
  return {std::move(name), bytes / best.first, floor_bytes / best_floor.first,
          best.Settled() && best_floor.Settled()};
}

std::vector<Row> MeasureCodec(CodecId id, Mix mix, const Sizes& sizes) {
  const Codec& codec = **compression::FindCodec(id);
  const std::string name(compression::CodecName(id));
  Random random(1);
  std::vector<float> values(sizes.elements);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  std::vector<std::byte> payload;
  SKERRY_CHECK(codec.Encode(values, payload).ok());
  const auto wide_in = std::as_bytes(std::span(values));
  const auto wide = std::as_writable_bytes(std::span(values));
  const size_t narrow_bytes = wide.size() / static_cast<size_t>(mix);
  const auto narrow = std::span(payload).first(narrow_bytes);

  // What moves once each way, and what an addition reads besides.
  const double moved = static_cast<double>(wide.size() + payload.size());
  const double floor_moved = static_cast<double>(wide.size() + narrow.size());
  const auto extra = static_cast<double>(wide.size());
  std::vector<Row> rows;
  rows.push_back(Compare(
      name + "/encode", sizes, moved, floor_moved,
      [&] { SKERRY_CHECK(codec.Encode(values, payload).ok()); },
      [&] { FloorNarrow(mix, wide_in, narrow); }));
  // The floor loops leave bytes that mean nothing, so each side has its own
  // narrow buffer from here on.
  std::vector<std::byte> floor_narrow(narrow_bytes);
  for (float& value : values) {
    value = static_cast<float>(random.Uniform() - 0.5);
  }
  SKERRY_CHECK(codec.Encode(values, payload).ok());
  rows.push_back(Compare(
      name + "/decode", sizes, moved, floor_moved,
      [&] { SKERRY_CHECK(codec.Decode(payload, values).ok()); },
      [&] { FloorWiden(mix, floor_narrow, wide); }));
  std::fill(values.begin(), values.end(), 0.0f);
  rows.push_back(Compare(
      name + "/decode_add", sizes, moved + extra, floor_moved + extra,
      [&] { SKERRY_CHECK(codec.DecodeAdd(payload, values).ok()); },
      [&] { FloorUpdate(mix, floor_narrow, wide); }));
  return rows;
}

void Print(const Row& row) {
  std::printf("%-24s %7.2f GB/s  floor %7.2f GB/s  share %.3f  %s\n",
              row.name.c_str(), row.bytes_per_s / 1e9,
              row.floor_bytes_per_s / 1e9, row.share(),
              !row.settled  ? "disturbed"
              : row.meets() ? "meets"
                            : "misses");
}

void Append(std::ofstream& out, const Row& row) {
  out << "{\"name\":\"" << row.name << "\",\"value\":" << row.bytes_per_s
      << ",\"unit\":\"B/s\",\"against\":\"memory_floor\",\"against_value\":"
      << row.floor_bytes_per_s << ",\"ratio\":" << row.share()
      << ",\"bar\":\"0.80..1.05\",\"meets\":"
      << (row.meets() ? "true" : "false") << "}\n";
}

int Main(int argc, char** argv) {
  Sizes sizes = kFull;
  std::ofstream out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick") {
      sizes = kQuick;
    } else if (argument == "--json" && i + 1 < argc) {
      out.open(argv[++i], std::ios::app);
      if (!out) {
        std::fprintf(stderr, "codec_bench: cannot write %s\n", argv[i]);
        return 2;
      }
    } else {
      std::fprintf(stderr, "usage: codec_bench [--quick] [--json FILE]\n");
      return 2;
    }
  }
  for (const auto& [id, mix] : {std::pair{CodecId::kRawF32, Mix::kOneToOne},
                                {CodecId::kBf16, Mix::kTwoToOne},
                                {CodecId::kInt8Block, Mix::kFourToOne}}) {
    for (const Row& row : MeasureCodec(id, mix, sizes)) {
      Print(row);
      if (out.is_open()) Append(out, row);
    }
  }
  return 0;
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) { return skerry::bench::Main(argc, argv); }
