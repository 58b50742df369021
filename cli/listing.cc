#include "cli/listing.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "cli/did_you_mean.h"
#include "cli/table.h"
#include "nlohmann/json.hpp"

namespace skerry::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using nlohmann::ordered_json;

using Path = std::vector<std::string>;

const ordered_json& ItemsOf(const ordered_json& all, const ListSchema& schema) {
  static const ordered_json* const none =
      new ordered_json(ordered_json::array());
  const auto it = all.find(schema.list);
  return it == all.end() ? *none : *it;
}

absl::StatusOr<Path> ReadPath(const std::string& text,
                              const ListSchema& schema) {
  const auto alias = schema.aliases.find(text);
  Path path =
      absl::StrSplit(alias == schema.aliases.end() ? text : alias->second, '.');
  const Descriptor* type = schema.type;
  for (size_t i = 0; schema.type != nullptr && i < path.size(); ++i) {
    const FieldDescriptor* field =
        type == nullptr ? nullptr : type->FindFieldByName(path[i]);
    if (field == nullptr) {
      std::vector<std::string> known;
      for (int k = 0; type != nullptr && k < type->field_count(); ++k) {
        known.push_back(type->field(k)->name());
      }
      if (i == 0) {
        for (const auto& [name, whole] : schema.aliases) known.push_back(name);
      }
      return absl::InvalidArgumentError(absl::StrCat(
          schema.list, " have no field ", text, DidYouMean(path[i], known)));
    }
    type = field->message_type();
  }
  return path;
}

void Collect(const ordered_json& value, const Path& path, size_t depth,
             std::vector<std::string>& found) {
  if (value.is_array()) {
    for (const ordered_json& one : value) Collect(one, path, depth, found);
  } else if (depth < path.size()) {
    if (!value.is_object()) return;
    const auto it = value.find(path[depth]);
    if (it != value.end()) Collect(*it, path, depth + 1, found);
  } else if (value.is_string()) {
    found.push_back(value.get<std::string>());
  } else {
    found.push_back(value.dump());
  }
}

std::vector<std::string> ValuesOf(const ordered_json& item, const Path& path) {
  std::vector<std::string> found;
  Collect(item, path, 0, found);
  return found;
}

std::optional<double> NumberOf(const std::string& text) {
  double number;
  if (!absl::SimpleAtod(text, &number)) return std::nullopt;
  return number;
}

bool Less(const std::vector<std::string>& a,
          const std::vector<std::string>& b) {
  if (a.empty() || b.empty()) return a.empty() && !b.empty();
  const auto x = NumberOf(a.front());
  const auto y = NumberOf(b.front());
  if (x.has_value() && y.has_value()) return *x < *y;
  return a < b;
}

struct Requirement {
  Path path;
  bool equal = true;
  std::string value;

  bool Holds(const ordered_json& item) const {
    const std::vector<std::string> values = ValuesOf(item, path);
    const bool found =
        std::any_of(values.begin(), values.end(), [&](const std::string& one) {
          return one == value ||
                 (!value.empty() &&
                  absl::EndsWith(one, "_" + absl::AsciiStrToUpper(value)));
        });
    return found == equal;
  }
};

absl::StatusOr<std::vector<Requirement>> ReadSelector(
    const std::string& text, const ListSchema& schema) {
  std::vector<Requirement> all;
  const std::vector<std::string> parts =
      absl::StrSplit(text, ',', absl::SkipEmpty());
  for (const std::string& part : parts) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos || equals == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "-l: has to be FIELD=VALUE or FIELD!=VALUE, not ", part));
    }
    Requirement one;
    one.equal = part[equals - 1] != '!';
    const size_t value = equals + (part.substr(equals, 2) == "==" ? 2 : 1);
    one.value = part.substr(value);
    SKERRY_ASSIGN_OR_RETURN(
        one.path,
        ReadPath(part.substr(0, one.equal ? equals : equals - 1), schema));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

absl::StatusOr<std::vector<size_t>> ChooseItems(
    const std::string& json, const ListSchema& schema,
    const ListArguments& arguments) {
  SKERRY_ASSIGN_OR_RETURN(const std::vector<Requirement> wanted,
                          ReadSelector(arguments.selector, schema));
  const ordered_json all = ordered_json::parse(json);
  const ordered_json& items = ItemsOf(all, schema);
  std::vector<size_t> chosen;
  for (size_t i = 0; i < items.size(); ++i) {
    const bool holds = std::all_of(
        wanted.begin(), wanted.end(),
        [&](const Requirement& one) { return one.Holds(items[i]); });
    if (holds) chosen.push_back(i);
  }
  if (arguments.sort_by.empty()) return chosen;
  SKERRY_ASSIGN_OR_RETURN(const Path path, ReadPath(arguments.sort_by, schema));
  std::vector<std::vector<std::string>> keys;
  for (const ordered_json& item : items) keys.push_back(ValuesOf(item, path));
  std::stable_sort(chosen.begin(), chosen.end(),
                   [&](size_t a, size_t b) { return Less(keys[a], keys[b]); });
  return chosen;
}

absl::StatusOr<std::string> CustomTable(const std::string& json,
                                        const ListSchema& schema,
                                        const std::vector<size_t>& items,
                                        const std::string& columns) {
  std::vector<Column> titles;
  std::vector<Path> paths;
  const std::vector<std::string> parts =
      absl::StrSplit(columns, ',', absl::SkipEmpty());
  for (const std::string& part : parts) {
    const size_t colon = part.find(':');
    if (colon == std::string::npos || colon == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("-o custom-columns: has to be TITLE:FIELD, not ", part));
    }
    SKERRY_ASSIGN_OR_RETURN(Path path,
                            ReadPath(part.substr(colon + 1), schema));
    titles.push_back({part.substr(0, colon)});
    paths.push_back(std::move(path));
  }
  if (titles.empty()) {
    return absl::InvalidArgumentError(
        "-o custom-columns: name some, as NAME:spec.name,PHASE:phase");
  }
  const ordered_json all = ordered_json::parse(json);
  std::vector<std::vector<std::string>> rows;
  std::vector<bool> numbers(paths.size(), !items.empty());
  for (const size_t item : items) {
    std::vector<std::string>& row = rows.emplace_back();
    for (size_t i = 0; i < paths.size(); ++i) {
      row.push_back(
          absl::StrJoin(ValuesOf(ItemsOf(all, schema)[item], paths[i]), ","));
      if (!NumberOf(row.back()).has_value()) numbers[i] = false;
    }
  }
  for (size_t i = 0; i < titles.size(); ++i) {
    if (numbers[i]) titles[i].align = Align::kRight;
  }
  Table table(std::move(titles));
  for (std::vector<std::string>& row : rows) table.AddRow(std::move(row));
  return table.Text();
}

std::string ChosenJson(const std::string& json, const ListSchema& schema,
                       const std::vector<size_t>& items) {
  const ordered_json all = ordered_json::parse(json);
  ordered_json chosen = ordered_json::array();
  for (const size_t item : items) {
    chosen.push_back(ItemsOf(all, schema)[item]);
  }
  return ordered_json({{schema.list, std::move(chosen)}}).dump(1) + "\n";
}

std::string ChosenLines(const std::string& json, const ListSchema& schema,
                        const std::vector<size_t>& items) {
  const ordered_json all = ordered_json::parse(json);
  std::string lines;
  for (const size_t item : items) {
    absl::StrAppend(&lines, ItemsOf(all, schema)[item].dump(), "\n");
  }
  return lines;
}

std::string WithoutTitles(const std::string& table) {
  const size_t end = table.find('\n');
  return end == std::string::npos ? "" : table.substr(end + 1);
}

}  // namespace skerry::cli
