// cli/table.h
//
// Columns without borders, as wide as their widest cell, two spaces apart.
#ifndef SKERRY_CLI_TABLE_H_
#define SKERRY_CLI_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace skerry::cli {

enum class Align { kLeft, kRight };

struct Column {
  std::string title;
  Align align = Align::kLeft;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);
  // One cell a column; empty cells show as "-".
  void AddRow(std::vector<std::string> cells);
  // The titles and the rows, each line ended, no trailing spaces.
  std::string Text() const;

 private:
  const std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Control characters become '?', so that a name from afar cannot drive the
// terminal. Line ends too.
std::string Printable(const std::string& text);

// "850ms", "42s", "3m12s", "5h07m", "12d03h".
std::string AgeText(uint64_t age_ms);
// "512 B", "1.5 KiB", "3.2 GiB".
std::string BytesText(uint64_t bytes);
// "67.3%"; "-" when `whole` is 0.
std::string PercentText(uint64_t part, uint64_t whole);
// "12.5 samples/s".
std::string SamplesRateText(double samples_per_s);
// Four digits after the point.
std::string LossText(double loss);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_TABLE_H_
