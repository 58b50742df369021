// cli/listing.h
//
// Lists as scripts want them: some of the items, in another order, other
// columns. Works on the JSON of the API's objects, so that every field that
// JSON shows can be asked for: `counters.tokens_per_s`.
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
  // "state=connected,island!=north": all have to hold. Of a field with several
  // values one has to be equal, or all different. Enum values may be written
  // without their prefix, in lower case.
  std::string selector = {};
  // A field; numbers by value, others as text. Empty: as they come.
  std::string sort_by = {};
  // "NAME:spec.name,LOSS:losses.training_loss", for -o custom-columns.
  std::string columns = {};
  bool headers = true;
};

// What the items of a list are.
struct ListSchema {
  // The key of the list in the JSON: "jobs".
  std::string list;
  // Of an item; null: fields are not checked.
  const google::protobuf::Descriptor* type = nullptr;
  // Short names of fields.
  std::map<std::string, std::string> aliases = {};
};

// Which items, in which order. Errors: InvalidArgument, naming the field or the
// selector.
absl::StatusOr<std::vector<size_t>> ChooseItems(const std::string& json,
                                                const ListSchema& schema,
                                                const ListArguments& arguments);

// A table of the items with the columns of `columns`. Errors: InvalidArgument.
absl::StatusOr<std::string> CustomTable(const std::string& json,
                                        const ListSchema& schema,
                                        const std::vector<size_t>& items,
                                        const std::string& columns);

// The list with these items only; everything else is dropped.
std::string ChosenJson(const std::string& json, const ListSchema& schema,
                       const std::vector<size_t>& items);
// One item a line.
std::string ChosenLines(const std::string& json, const ListSchema& schema,
                        const std::vector<size_t>& items);

// A table's rows without its titles.
std::string WithoutTitles(const std::string& table);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_LISTING_H_
