// Each codec beside a loop that moves the same mix of bytes through the same
// buffers, on the same threads and cut alike, timed in turns: the share of this
// machine's memory speed that the codec reaches. A share above 1.05
// means that the bench is wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/bounded_number.h"
#include "base/check.h"
#include "base/random.h"
#include "bench/micro/codec_floors.h"
#include "bench/micro/in_turns.h"
#include "compression/codec.h"
#include "compression/workspace.h"
#include "runtime/posix/thread_pool.h"

namespace skerry::bench {
namespace {

using compression::Codec;
using compression::CodecId;

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

struct Row {
  std::string name;
  const char* bar;
  double bytes = 0.0;  // that a call moves
  InTurns turns;
};

// Laplace: what pseudo-gradients are nearest to, of the easy ones.
std::vector<float> Draw() {
  Random random(1);
  std::vector<float> values(Buffers::kElements);
  for (float& value : values) {
    const double size = -std::log(1.0 - random.Uniform());
    value = static_cast<float>(random.Below(2) == 0 ? size : -size);
  }
  return values;
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
        buffers_(values),
        floors_(buffers_, pool_) {}

  // Runs one more round of every codec.
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
  // Runs one more round of a codec, whose rows begin at `at`.
  void Round(CodecId id, size_t at) {
    const Codec& codec = **compression::FindCodec(id);
    const bool sparse = compression::IsSparse(id);
    const auto encode = [&] {
      Buffers::Set& set = buffers_.Next();
      SKERRY_CHECK(codec.Encode(set.values, set.payload, workspace_).ok());
    };
    const auto decode = [&] {
      Buffers::Set& set = buffers_.Next();
      SKERRY_CHECK(codec.Decode(set.payload, set.decoded, workspace_).ok());
    };
    const auto add = [&] {
      Buffers::Set& set = buffers_.Next();
      SKERRY_CHECK(codec.DecodeAdd(set.payload, set.decoded, workspace_).ok());
    };
    for (size_t i = 0; i < Buffers::kSets; ++i) encode();
    for (size_t i = 0; i < Buffers::kSets; ++i) decode();
    const size_t sent =
        sparse ? SentBy(buffers_.sets()[0].decoded) : Buffers::kElements;
    if (rows_.size() == at) AddRows(id, sent);
    const size_t turns = options_.effort.turns;
    rows_[at].turns.Take(turns, {encode, floors_.Encoders(sparse)});
    // The loops have overwritten the payloads.
    for (size_t i = 0; i < Buffers::kSets; ++i) encode();
    rows_[at + 1].turns.Take(turns, {decode, floors_.Decoders(sparse)});
    for (Buffers::Set& set : buffers_.sets()) {
      std::fill(set.decoded.begin(), set.decoded.end(), 0.0f);
    }
    // Otherwise what few values touch would stay in the last-level cache.
    const auto evict = [&] {
      if (sparse) ReadAll();
    };
    rows_[at + 2].turns.Take(turns, {add, floors_.Adders(sent), evict});
  }

  void AddRows(CodecId id, size_t sent) {
    const std::string name(compression::CodecName(id));
    const char* bar = compression::IsSparse(id) ? kSparseBar : kStreamingBar;
    const size_t wide = Buffers::kElements * sizeof(float);
    const size_t narrow = buffers_.sets()[0].payload.size();
    const auto moved = static_cast<double>(wide + narrow);
    rows_.push_back({name + "/encode", bar, moved, {}});
    rows_.push_back({name + "/decode", bar, moved, {}});
    rows_.push_back({name + "/decode_add",
                     bar,
                     static_cast<double>(narrow + 2 * sent * sizeof(float)),
                     {}});
  }

  void ReadAll() {
    constexpr size_t kLine = 16;
    float sum = 0.0f;
    const std::vector<float>& values = buffers_.sets()[0].values;
    for (size_t i = 0; i < values.size(); i += kLine) sum += values[i];
    [[maybe_unused]] volatile float used = sum;
  }

  const Options& options_;
  runtime::ThreadPool pool_;
  compression::Workspace workspace_;
  Buffers buffers_;
  CodecFloors floors_;
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
      options.threads = ReadNumber<int>(argv[++i], {1, 1024}).value_or(0);
    } else {
      return false;
    }
  }
  return options.threads >= 1;
}

// Empty when the file does not hold Buffers::kElements values.
std::vector<float> Read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<float> values(Buffers::kElements);
  in.read(reinterpret_cast<char*>(values.data()),
          static_cast<std::streamsize>(Buffers::kElements * sizeof(float)));
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
