// cli/listing.h
//
// Filters, sorts and prints lists as scripts want them. It works on the JSON of
// the API's objects, so every field that JSON shows can be asked for, such as
// `counters.tokens_per_s`.
#ifndef SKERRY_CLI_LISTING_H_
#define SKERRY_CLI_LISTING_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/descriptor.h"

namespace skerry::cli {

struct ListArguments {
  // Requirements that an item has to meet, all of them, as in
  // "state=connected,island!=north". `FIELD=VALUE` is met when any of the
  // field's values equals VALUE. `FIELD!=VALUE` is met when none of them does.
  // Enum values may be written without their prefix, in lower case.
  std::string selector = {};
  // The field to sort by. Numbers are compared by value, everything else as
  // text. If it is empty, items keep the order of the list.
  std::string sort_by = {};
  bool headers = true;
};

// What the items of a list are.
struct ListSchema {
  // The key of the list in the JSON: "jobs".
  std::string list;
  // The message type of an item. If it is null, names of fields are not
  // checked.
  const google::protobuf::Descriptor* type = nullptr;
  // Short names of fields.
  std::map<std::string, std::string> aliases = {};
};

// Returns the indices of the items that meet the selector, in the order asked
// for. Errors: InvalidArgument, naming the field or the selector.
absl::StatusOr<std::vector<size_t>> ChooseItems(const std::string& json,
                                                const ListSchema& schema,
                                                const ListArguments& arguments);

// A table of the items with the columns of `columns`. Errors: InvalidArgument.
absl::StatusOr<std::string> CustomTable(const std::string& json,
                                        const ListSchema& schema,
                                        const std::vector<size_t>& items,
                                        const std::string& columns);

// The JSON of the list with these items only. Other parts of the reply are
// dropped.
std::string ChosenJson(const std::string& json, const ListSchema& schema,
                       const std::vector<size_t>& items);
// One item a line.
std::string ChosenLines(const std::string& json, const ListSchema& schema,
                        const std::vector<size_t>& items);

// A table's rows without its titles.
std::string WithoutTitles(const std::string& table);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_LISTING_H_
