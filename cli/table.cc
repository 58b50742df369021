#include "cli/table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/check.h"

namespace skerry::cli {
namespace {

// Code points, not bytes: a continuation byte takes no column.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(),
                    [](unsigned char c) { return (c & 0xc0) != 0x80; }));
}

void AppendLine(const std::vector<std::string>& cells,
                const std::vector<Column>& columns,
                const std::vector<size_t>& widths, std::string* text) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += "  ";
    const std::string pad(widths[i] - WidthOf(cells[i]), ' ');
    if (columns[i].align == Align::kRight) line += pad;
    line += cells[i];
    if (columns[i].align == Align::kLeft) line += pad;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  absl::StrAppend(text, line, "\n");
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::AddRow(std::vector<std::string> cells) {
  SKERRY_CHECK(cells.size() == columns_.size());
  for (std::string& cell : cells) {
    cell = cell.empty() ? "-" : Printable(cell);
  }
  rows_.push_back(std::move(cells));
}

std::string Table::Text() const {
  std::vector<std::string> titles;
  std::vector<size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(column.title.size());
  }
  for (const std::vector<std::string>& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], WidthOf(row[i]));
    }
  }
  std::string text;
  AppendLine(titles, columns_, widths, &text);
  for (const std::vector<std::string>& row : rows_) {
    AppendLine(row, columns_, widths, &text);
  }
  return text;
}

std::string Printable(const std::string& text) {
  std::string printable = text;
  for (char& c : printable) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return printable;
}

std::string AgeText(uint64_t age_ms) {
  if (age_ms < 1000) return absl::StrCat(age_ms, "ms");
  const uint64_t s = age_ms / 1000;
  if (s < 60) return absl::StrCat(s, "s");
  if (s < 3600) return absl::StrFormat("%dm%02ds", s / 60, s % 60);
  if (s < 86400) return absl::StrFormat("%dh%02dm", s / 3600, s % 3600 / 60);
  return absl::StrFormat("%dd%02dh", s / 86400, s % 86400 / 3600);
}

std::string BytesText(uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB",
                                                 "TiB", "PiB", "EiB"};
  if (bytes < 1024) return absl::StrCat(bytes, " B");
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return absl::StrFormat("%.1f %s", value, kUnits[unit]);
}

std::string PercentText(uint64_t part, uint64_t whole) {
  if (whole == 0) return "-";
  return absl::StrFormat(
      "%.1f%%", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string SamplesRateText(double samples_per_s) {
  return absl::StrFormat("%.4g samples/s", samples_per_s);
}

std::string LossText(double loss) { return absl::StrFormat("%.4f", loss); }

}  // namespace skerry::cli
