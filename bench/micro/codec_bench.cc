// Each codec beside a loop that moves the same mix of bytes through buffers of
// the same sizes, on the same threads and cut alike, timed in turns: the share
// of this machine's memory speed that the codec reaches. A share above 1.05
// means that the bench is wrong.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
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

struct Turns {
  size_t least;
  size_t most;
};
constexpr Turns kFull = {25, 400};
constexpr Turns kQuick = {5, 40};

constexpr const char* kStreamingBar = "0.80..1.05";
constexpr const char* kSparseBar = "0.50..1.05";

struct Options {
  Turns turns = kFull;
  int threads = static_cast<int>(std::thread::hardware_concurrency());
  std::string only;  // the start of a codec's name
  std::string json;
  std::string values;  // a file of fp32; drawn where empty
};

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
  double seconds = 0.0;
  double bytes_per_s = 0.0;
  double floor_bytes_per_s = 0.0;
  const char* bar = kStreamingBar;
  // False when other work on the machine never let the times settle.
  bool settled = false;
};

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - start;
  return taken.count();
}

// Which of a few loops is the fastest depends on the machine and the sizes.
using Floors = std::vector<std::function<void()>>;

// The best of the codec and of the fastest floor in turns, so that a change of
// clock or a busy neighbour meets both alike; more turns while either has been
// undisturbed only once. `evict` comes before each. A turn has one of the
// floors, as caches would keep what several touch.
Row Compare(
    std::string name, const char* bar, const Turns& turns, double bytes,
    const std::function<void()>& codec, const Floors& floors,
    const std::function<void()>& evict = [] {}) {
  // Turns of each floor after which those far behind are left out.
  constexpr size_t kTrials = 5;
  constexpr double kFarBehind = 1.2;
  struct Floor {
    const std::function<void()>* work;
    Best best;
  };
  std::vector<Floor> left;
  for (const auto& floor : floors) left.push_back({&floor, {}});
  codec();  // touches every page
  for (const Floor& floor : left) (*floor.work)();
  const auto fastest = [&] {
    return std::min_element(left.begin(), left.end(),
                            [](const Floor& a, const Floor& b) {
                              return a.best.first < b.best.first;
                            })
        ->best;
  };
  const auto timed = [&](const std::function<void()>& work) {
    evict();
    return Seconds(work);
  };
  const size_t trials = left.size() > 1 ? kTrials * left.size() : 0;
  Best best;
  for (size_t turn = 0; turn < trials + turns.most; ++turn) {
    Floor& floor = left[turn % left.size()];
    const bool codec_first = turn % 2 == 0;
    if (codec_first) best.Add(timed(codec));
    floor.best.Add(timed(*floor.work));
    if (!codec_first) best.Add(timed(codec));
    if (turn + 1 == trials) {
      const double most = kFarBehind * fastest().first;
      std::erase_if(left,
                    [&](const Floor& each) { return each.best.first > most; });
    }
    if (turn + 1 >= trials + turns.least && best.Settled() &&
        fastest().Settled()) {
      break;
    }
  }
  const Best best_floor = fastest();
  return {.name = std::move(name),
          .seconds = best.first,
          .bytes_per_s = bytes / best.first,
          .floor_bytes_per_s = bytes / best_floor.first,
          .bar = bar,
          .settled = best.Settled() && best_floor.Settled()};
}

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
        decoded_(values.size()),
        scratch_(values.size()) {}

  std::vector<Row> Measure(CodecId id) {
    const Codec& codec = **compression::FindCodec(id);
    const std::string name(compression::CodecName(id));
    const bool sparse = compression::IsSparse(id);
    const char* bar = sparse ? kSparseBar : kStreamingBar;
    SKERRY_CHECK(codec.Encode(values_, payload_, workspace_).ok());
    floor_payload_.resize(payload_.size());
    const size_t wide = values_.size() * sizeof(float);
    const size_t narrow = payload_.size();
    const auto moved = static_cast<double>(wide + narrow);
    std::vector<Row> rows;
    rows.push_back(Compare(
        name + "/encode", bar, options_.turns, moved,
        [&] { SKERRY_CHECK(codec.Encode(values_, payload_, workspace_).ok()); },
        Encoders(sparse)));
    rows.push_back(Compare(
        name + "/decode", bar, options_.turns, moved,
        [&] {
          SKERRY_CHECK(codec.Decode(payload_, decoded_, workspace_).ok());
        },
        Decoders(sparse)));
    const size_t sent = sparse ? SentBy(decoded_) : values_.size();
    const double added =
        static_cast<double>(narrow + 2 * std::min(sent * sizeof(float), wide));
    std::fill(decoded_.begin(), decoded_.end(), 0.0f);
    // What few values touch would stay in the last-level cache.
    const auto evict = [&] {
      if (sparse) ReadAll();
    };
    rows.push_back(Compare(
        name + "/decode_add", bar, options_.turns, added,
        [&] {
          SKERRY_CHECK(codec.DecodeAdd(payload_, decoded_, workspace_).ok());
        },
        Adders(sent), evict));
    return rows;
  }

 private:
  // Calls loop(first value, values, their part of the payload) for all parts.
  template <typename Loop>
  std::function<void()> Floor(Loop loop, size_t part_bytes = kPartBytes) {
    return [this, loop, part_bytes] {
      const std::span<std::byte> payload = floor_payload_;
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
  std::span<std::byte> Scratch(size_t at, size_t count) {
    return std::as_writable_bytes(std::span(scratch_).subspan(at, count));
  }

  template <typename By>
  static Floors EveryWay(const By& by) {
    Floors floors;
    for (const Stores stores : {Stores::kOrdinary, Stores::kPastCaches}) {
      for (const bool ask : {false, true}) floors.push_back(by(stores, ask));
    }
    return floors;
  }

  Floors Encoders(bool sparse) {
    const auto by = [&](Stores stores, bool ask) {
      return Floor([this, stores, ask](size_t at, size_t count, auto payload) {
        FloorNarrow(Values(at, count), payload, stores, ask);
      });
    };
    // Sparse codecs have ordinary stores alone.
    if (sparse) return {by(Stores::kOrdinary, false)};
    Floors floors = EveryWay(by);
    if (floor_payload_.size() != std::as_bytes(std::span(values_)).size()) {
      return floors;
    }
    // A copy is a decoder's loop as well.
    for (auto& floor : EveryWay([&](Stores stores, bool ask) {
           return Floor(
               [this, stores, ask](size_t at, size_t count, auto payload) {
                 FloorWiden(Values(at, count), payload, stores, ask);
               });
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
                FloorClear(payload, Scratch(at, count), run);
              },
              part));
        }
      }
      return floors;
    }
    return EveryWay([&](Stores stores, bool ask) {
      return Floor([this, stores, ask](size_t at, size_t count, auto payload) {
        FloorWiden(payload, Scratch(at, count), stores, ask);
      });
    });
  }

  Floors Adders(size_t sent) {
    Floors floors;
    for (const bool ask : {false, true}) {
      floors.push_back(
          Floor([this, ask](size_t at, size_t count, auto payload) {
            FloorUpdate(payload, Scratch(at, count), ask);
          }));
    }
    const size_t all = values_.size();
    if (sent >= all / 8) return floors;  // all lines of the cache are touched
    const std::vector<uint32_t> places =
        DrawPlaces(kTouchedBytes / sizeof(float), sent, all);
    for (const size_t ahead : {8, 16, 32, 64, 128, 256}) {
      floors.push_back(Floor(
          [this, ahead, places](size_t at, size_t count, auto payload) {
            FloorTouch(payload, places, ahead,
                       std::span(scratch_).subspan(at, count));
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
  std::vector<float> scratch_;
  std::vector<std::byte> payload_;
  std::vector<std::byte> floor_payload_;
};

void Print(const Row& row) {
  std::printf("%-28s %7.2f GB/s  floor %7.2f GB/s  share %.3f of %s%s\n",
              row.name.c_str(), row.bytes_per_s / 1e9,
              row.floor_bytes_per_s / 1e9,
              row.bytes_per_s / row.floor_bytes_per_s, row.bar,
              row.settled ? "" : "  disturbed");
}

void Append(std::ofstream& out, const Row& row) {
  out << "{\"name\":\"" << row.name << "\",\"value\":" << row.bytes_per_s
      << ",\"unit\":\"B/s\",\"against\":\"memory_floor\",\"against_value\":"
      << row.floor_bytes_per_s << ",\"bar\":\"" << row.bar
      << "\",\"seconds\":" << row.seconds << "}\n";
}

bool Parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool more = i + 1 < argc;
    if (argument == "--quick") {
      options.turns = kQuick;
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
  CodecRows rows(options, values);
  for (int number = 0; number < 256; ++number) {
    const auto id = static_cast<CodecId>(number);
    if (!compression::FindCodec(id).ok()) continue;
    if (!compression::CodecName(id).starts_with(options.only)) continue;
    for (const Row& row : rows.Measure(id)) {
      Print(row);
      if (out.is_open()) Append(out, row);
    }
  }
  return 0;
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) { return skerry::bench::Main(argc, argv); }
