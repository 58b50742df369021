// bench/micro/bench_rows.h
//
// Writes what a bench has measured, one JSON object a line, as the harness
// reads it.
#ifndef SKERRY_BENCH_MICRO_BENCH_ROWS_H_
#define SKERRY_BENCH_MICRO_BENCH_ROWS_H_

#include <fstream>
#include <string>
#include <string_view>

namespace skerry::bench {

class BenchRows {
 public:
  // To standard output and, unless `path` is null, to the end of that file.
  explicit BenchRows(const char* path);

  // For comparison with the others; there is no bar.
  void AddContext(std::string_view name, double value, std::string_view unit);
  // A requirement names the target.
  void Add(std::string_view name, double value, std::string_view unit,
           double target, bool at_least);
  // The bar is for the ratio of both values, such as "<=2".
  void Compare(std::string_view name, double value, std::string_view unit,
               std::string_view against, double against_value,
               std::string_view bar);

 private:
  void Print(const std::string& row);

  std::ofstream out_;
};

}  // namespace skerry::bench

#endif  // SKERRY_BENCH_MICRO_BENCH_ROWS_H_
