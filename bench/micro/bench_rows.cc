#include "bench/micro/bench_rows.h"

#include <cstdio>

#include "absl/strings/str_cat.h"

namespace skerry::bench {
namespace {

// A JSON object without its end.
std::string Open(std::string_view name, double value, std::string_view unit) {
  return absl::StrCat("{\"name\":\"", std::string(name), "\",\"value\":", value,
                      ",\"unit\":\"", std::string(unit), "\"");
}

}  // namespace

BenchRows::BenchRows(const char* path) {
  if (path != nullptr) out_.open(path, std::ios::app);
}

void BenchRows::AddContext(std::string_view name, double value,
                           std::string_view unit) {
  Print(Open(name, value, unit) + "}");
}

void BenchRows::Add(std::string_view name, double value, std::string_view unit,
                    double target, bool at_least) {
  Compare(name, value, unit, "requirement", target, at_least ? ">=1" : "<=1");
}

void BenchRows::Compare(std::string_view name, double value,
                        std::string_view unit, std::string_view against,
                        double against_value, std::string_view bar) {
  Print(absl::StrCat(Open(name, value, unit), ",\"against\":\"",
                     std::string(against), "\",\"against_value\":",
                     against_value, ",\"bar\":\"", std::string(bar), "\"}"));
}

void BenchRows::Print(const std::string& row) {
  std::printf("%s\n", row.c_str());
  std::fflush(stdout);
  if (out_.is_open())
    out_ << row << "\n" << std::flush;  // a bench may leave by _exit()
}

}  // namespace skerry::bench
