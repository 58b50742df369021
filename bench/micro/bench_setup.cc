#include "bench/micro/bench_setup.h"

#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace skerry::bench {

std::optional<BenchFlags> ReadBenchFlags(int argc, char** argv,
                                         std::string_view bench) {
  BenchFlags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--quick") {
      flags.quick = true;
    } else if (argument == "--json" && i + 1 < argc) {
      flags.json = argv[++i];
    } else {
      std::fprintf(stderr, "usage: %s [--quick] [--json FILE]\n",
                   std::string(bench).c_str());
      return std::nullopt;
    }
  }
  return flags;
}

BenchFolder::BenchFolder(std::string_view bench) {
  std::error_code failed;
  path_ = std::filesystem::temp_directory_path(failed) /
          (std::string(bench) + "-XXXXXX");
  if (failed || mkdtemp(path_.data()) == nullptr) {
    const char* below = std::getenv("TMPDIR");
    std::fprintf(stderr,
                 "%s: cannot make a folder below %s; set TMPDIR to one that "
                 "can be written\n",
                 std::string(bench).c_str(), below == nullptr ? "/tmp" : below);
    std::exit(1);
  }
}

BenchFolder::~BenchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace skerry::bench
