// bench/micro/bench_setup.h
//
// What benches share before they measure: the flags, and a folder to write to.
#ifndef SKERRY_BENCH_MICRO_BENCH_SETUP_H_
#define SKERRY_BENCH_MICRO_BENCH_SETUP_H_

#include <optional>
#include <string>
#include <string_view>

namespace skerry::bench {

struct BenchFlags {
  // Less is measured, to see that the bench works.
  bool quick = false;
  // The file that rows are added to; null: none.
  const char* json = nullptr;
};

// Reads `[--quick] [--json FILE]`. If there is anything else, it prints the
// usage of `bench` and returns nothing.
std::optional<BenchFlags> ReadBenchFlags(int argc, char** argv,
                                         std::string_view bench);

// A new folder below TMPDIR, or below /tmp when that is not set. It is removed
// with all that is in it when the object goes.
class BenchFolder {
 public:
  // The folder's name begins with `bench`. Ends the process with one line if
  // the folder cannot be made.
  explicit BenchFolder(std::string_view bench);
  ~BenchFolder();
  BenchFolder(const BenchFolder&) = delete;
  BenchFolder& operator=(const BenchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace skerry::bench

#endif  // SKERRY_BENCH_MICRO_BENCH_SETUP_H_
