// Each codec beside a loop that moves the same mix of bytes through the same
// buffers, on the same threads and cut alike, timed in turns: the share of this
// machine's memory speed that the codec reaches. A share above 1.05
// means that the bench is wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "bench/micro/in_turns.h"
#include "bench/micro/memory_floor.h"
#include "compression/codec.h"
#include "compression/parts.h"
#include "compression/workspace.h"
#include "runtime/posix/thread_pool.h"

namespace skerry::bench {
namespace {

using compression::Codec;
using compression::CodecId;

// 64 MiB, far beyond the last-level cache.
constexpr size_t kElements = size_t{1} << 24;

// Codecs one after another, so often, and turns of each in a round: memory that
// is slow for some seconds then is not all that one of them meets.
struct Effort {
  size_t rounds;
  size_t turns;
};
constexpr Effort kFull = {6, 48};
constexpr Effort kQuick = {2, 32};

constexpr const char* kStreamingBar = "0.80..1.05";
constexpr const char* kSparseBar = "0.50..1.05";

struct Options {
  Effort effort = kFull;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  std::string only;  // the start of a codec's name
  std::string json;
  std::string values;  // a file of fp32; drawn where empty
};

// Which of a few loops is the fastest depends on the machine and the sizes.
using Floors = std::vector<InTurns::Work>;

struct Row {
  std::string name;
  const char* bar;
  double bytes = 0.0;  // that a call moves
  InTurns turns;
};

// Laplace: what pseudo-gradients are nearest to, of the easy ones.
std::vector<float> Draw() {
  Random random(1);
  std::vector<float> values(kElements);
  for (float& value : values) {
    const double size = -std::log(1.0 - random.Uniform());
    value = static_cast<float>(random.Below(2) == 0 ? size : -size);
  }
  return values;
}

// Places of `size` values of which `sent` of `all` are sent, ascending.
std::vector<uint32_t> DrawPlaces(size_t size, size_t sent, size_t all) {
  Random random(2);
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < size; ++i) {
    if (random.Below(all) < sent) places.push_back(i);
  }
  return places;
}

// Of `wide`, what one call of a floor's loop works on: what codecs take, and
// more where few values are touched, as codecs then cut what is sent.
constexpr size_t kPartBytes = compression::kPartElements * sizeof(float);
constexpr size_t kTouchedBytes = 16 * kPartBytes;

constexpr size_t kLongPartBytes[] = {kTouchedBytes, 8 * kTouchedBytes};
// How far ahead loops ask memory.
constexpr size_t kAheadBytes[] = {0, 512, 4096};
constexpr std::initializer_list<Way> kEveryWay = {
    Way::kGroups, Way::kGroupsPastCaches, Way::kSteps};

// The floor's loops over both buffers.
template <typename Loop>
void InParts(ParallelExecutor& executor, size_t wide_bytes, size_t narrow_bytes,
             size_t part_bytes, const Loop& loop) {
  const size_t parts = wide_bytes / part_bytes;
  executor.ForEach(parts, [&](size_t part) {
    loop(part * part_bytes, part_bytes, part * narrow_bytes / parts,
         (part + 1) * narrow_bytes / parts - part * narrow_bytes / parts);
  });
}

size_t SentBy(const std::vector<float>& decoded) {
  return static_cast<size_t>(std::count_if(decoded.begin(), decoded.end(),
                                           [](float x) { return x != 0.0f; }));
}

class CodecRows {
 public:
  CodecRows(const Options& options, const std::vector<float>& values)
      : options_(options),
        pool_("codec", options.threads),
        workspace_(pool_),
        values_(values),
        decoded_(values.size()) {}

  // One more round of every codec.
  void Round() {
    size_t at = 0;
    for (int number = 0; number < 256; ++number) {
      const auto id = static_cast<CodecId>(number);
      if (!compression::FindCodec(id).ok()) continue;
      if (!compression::CodecName(id).starts_with(options_.only)) continue;
      Round(id, at);
      at += 3;
    }
  }
  std::span<const Row> rows() const { return rows_; }

 private:
  // Of the codec whose rows are those from `at` on.
  void Round(CodecId id, size_t at) {
    const Codec& codec = **compression::FindCodec(id);
    const bool sparse = compression::IsSparse(id);
    SKERRY_CHECK(codec.Encode(values_, payload_, workspace_).ok());
    SKERRY_CHECK(codec.Decode(payload_, decoded_, workspace_).ok());
    const size_t sent = sparse ? SentBy(decoded_) : values_.size();
    if (rows_.size() == at) AddRows(id, sent);
    const size_t turns = options_.effort.turns;
    const auto encode = [&] {
      SKERRY_CHECK(codec.Encode(values_, payload_, workspace_).ok());
    };
    rows_[at].turns.Take(turns, {encode, Encoders(sparse)});
    encode();  // over what a loop wrote
    const auto decode = [&] {
      SKERRY_CHECK(codec.Decode(payload_, decoded_, workspace_).ok());
    };
    rows_[at + 1].turns.Take(turns, {decode, Decoders(sparse)});
    std::fill(decoded_.begin(), decoded_.end(), 0.0f);
    const auto add = [&] {
      SKERRY_CHECK(codec.DecodeAdd(payload_, decoded_, workspace_).ok());
    };
    // What few values touch would stay in the last-level cache.
    const auto evict = [&] {
      if (sparse) ReadAll();
    };
    rows_[at + 2].turns.Take(turns, {add, Adders(sent), evict});
  }

  void AddRows(CodecId id, size_t sent) {
    const std::string name(compression::CodecName(id));
    const char* bar = compression::IsSparse(id) ? kSparseBar : kStreamingBar;
    const size_t wide = values_.size() * sizeof(float);
    const size_t narrow = payload_.size();
    const auto moved = static_cast<double>(wide + narrow);
    rows_.push_back({name + "/encode", bar, moved, {}});
    rows_.push_back({name + "/decode", bar, moved, {}});
    rows_.push_back({name + "/decode_add",
                     bar,
                     static_cast<double>(narrow + 2 * sent * sizeof(float)),
                     {}});
  }

  // Calls loop(first value, values, their part of the payload) for all parts.
  template <typename Loop>
  InTurns::Work Floor(Loop loop, size_t part_bytes) {
    return [this, loop, part_bytes] {
      const std::span<std::byte> payload = payload_;
      InParts(pool_, values_.size() * sizeof(float), payload.size(), part_bytes,
              [&](size_t at, size_t size, size_t n, size_t n_size) {
                loop(at / sizeof(float), size / sizeof(float),
                     payload.subspan(n, n_size));
              });
    };
  }
  std::span<const std::byte> Values(size_t at, size_t count) const {
    return std::as_bytes(std::span(values_).subspan(at, count));
  }
  std::span<std::byte> Decoded(size_t at, size_t count) {
    return std::as_writable_bytes(std::span(decoded_).subspan(at, count));
  }

  // by(way, how far ahead, bytes of a part): each way in parts as codecs have
  // them, and some of `ways` in longer ones, which some memory is faster for.
  template <typename By>
  static Floors EveryWay(std::initializer_list<Way> ways, const By& by) {
    Floors floors;
    for (const Way way : ways) {
      for (const size_t ahead_bytes : kAheadBytes) {
        floors.push_back(by(way, ahead_bytes, kPartBytes));
      }
      if (way == Way::kGroups) continue;
      for (const size_t part : kLongPartBytes) {
        floors.push_back(by(way, 0, part));
      }
    }
    return floors;
  }

  Floors Encoders(bool sparse) {
    const auto narrow = [&](Way way, size_t ahead_bytes, size_t part) {
      return Floor(
          [this, way, ahead_bytes](size_t at, size_t count, auto payload) {
            FloorNarrow(Values(at, count), payload, way, ahead_bytes);
          },
          part);
    };
    // Sparse codecs store ordinarily alone.
    if (sparse) return EveryWay({Way::kGroups, Way::kSteps}, narrow);
    Floors floors = EveryWay(kEveryWay, narrow);
    if (payload_.size() != std::as_bytes(std::span(values_)).size()) {
      return floors;
    }
    // A copy is a decoder's loop as well.
    for (auto& floor :
         EveryWay(kEveryWay, [&](Way way, size_t ahead_bytes, size_t part) {
           return Floor(
               [this, way, ahead_bytes](size_t at, size_t count, auto payload) {
                 FloorWiden(Values(at, count), payload, way, ahead_bytes);
               },
               part);
         })) {
      floors.push_back(std::move(floor));
    }
    return floors;
  }

  Floors Decoders(bool sparse) {
    if (sparse) {
      Floors floors;
      for (const size_t part : {kPartBytes, kTouchedBytes}) {
        for (const size_t run : {kPartBytes / 16, kPartBytes / 4, kPartBytes}) {
          floors.push_back(Floor(
              [this, run](size_t at, size_t count, auto payload) {
                FloorClear(payload, Decoded(at, count), run);
              },
              part));
        }
      }
      return floors;
    }
    return EveryWay(kEveryWay, [&](Way way, size_t ahead_bytes, size_t part) {
      return Floor(
          [this, way, ahead_bytes](size_t at, size_t count, auto payload) {
            FloorWiden(payload, Decoded(at, count), way, ahead_bytes);
          },
          part);
    });
  }

  Floors Adders(size_t sent) {
    Floors floors = EveryWay(
        {Way::kGroups, Way::kSteps},
        [&](Way way, size_t ahead_bytes, size_t part) {
          return Floor(
              [this, way, ahead_bytes](size_t at, size_t count, auto payload) {
                FloorUpdate(payload, Decoded(at, count), way, ahead_bytes);
              },
              part);
        });
    const size_t all = values_.size();
    if (sent >= all / 8) return floors;  // all lines of the cache are touched
    const std::vector<uint32_t> places =
        DrawPlaces(kTouchedBytes / sizeof(float), sent, all);
    for (const size_t ahead : {8, 16, 32, 64, 128, 256}) {
      floors.push_back(Floor(
          [this, ahead, places](size_t at, size_t count, auto payload) {
            FloorTouch(payload, places, ahead,
                       std::span(decoded_).subspan(at, count));
          },
          kTouchedBytes));
    }
    return floors;
  }

  void ReadAll() const {
    constexpr size_t kLine = 16;
    float sum = 0.0f;
    for (size_t i = 0; i < values_.size(); i += kLine) sum += values_[i];
    [[maybe_unused]] volatile float used = sum;
  }

  const Options& options_;
  runtime::ThreadPool pool_;
  compression::Workspace workspace_;
  const std::vector<float>& values_;
  std::vector<float> decoded_;
  std::vector<std::byte> payload_;
  std::vector<Row> rows_;
};

void Print(const Row& row, double seconds, const Shares& shares) {
  std::printf("%-28s %7.2f GB/s  share %.3f (%.2f to %.2f) of %s%s\n",
              row.name.c_str(), row.bytes / seconds / 1e9, shares.median,
              shares.low, shares.high, row.bar,
              shares.settled ? "" : "  disturbed");
}

void Append(std::ofstream& out, const Row& row, double seconds, double shortest,
            const Shares& shares) {
  const double bytes_per_s = row.bytes / seconds;
  out << "{\"name\":\"" << row.name << "\",\"value\":" << bytes_per_s
      << ",\"unit\":\"B/s\",\"against\":\"memory_floor\",\"against_value\":"
      << bytes_per_s / shares.median << ",\"bar\":\"" << row.bar
      << "\",\"seconds\":" << shortest << "}\n";
}

bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--quick") {
      options.effort = kQuick;
    } else if (argument == "--json" && more) {
      options.json = argv[++i];
    } else if (argument == "--only" && more) {
      options.only = argv[++i];
    } else if (argument == "--values" && more) {
      options.values = argv[++i];
    } else if (argument == "--threads" && more) {
      options.threads = std::atoi(argv[++i]);
    } else {
      return false;
    }
  }
  return options.threads >= 1;
}

// Empty when the file does not hold kElements values.
std::vector<float> Read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<float> values(kElements);
  in.read(reinterpret_cast<char*>(values.data()),
          static_cast<std::streamsize>(kElements * sizeof(float)));
  if (!in) values.clear();
  return values;
}

int Main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: codec_bench [--quick] [--json FILE] [--threads N] "
                 "[--only NAME] [--values FILE]\n");
    return 2;
  }
  const std::vector<float> values =
      options.values.empty() ? Draw() : Read(options.values);
  if (values.empty()) {
    std::fprintf(stderr, "codec_bench: %s does not hold 2^24 fp32 values\n",
                 options.values.c_str());
    return 2;
  }
  std::ofstream out;
  if (!options.json.empty()) {
    out.open(options.json, std::ios::app);
    if (!out) {
      std::fprintf(stderr, "codec_bench: cannot write %s\n",
                   options.json.c_str());
      return 2;
    }
  }
  CodecRows codecs(options, values);
  for (size_t i = 0; i < options.effort.rounds; ++i) codecs.Round();
  for (const Row& row : codecs.rows()) {
    std::vector<double> seconds = row.turns.seconds();
    std::sort(seconds.begin(), seconds.end());
    const double middle = seconds[seconds.size() / 2];
    const Shares shares = row.turns.OfFastest();
    Print(row, middle, shares);
    if (out.is_open()) Append(out, row, middle, seconds.front(), shares);
  }
  return 0;
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) { return skerry::bench::Main(argc, argv); }
