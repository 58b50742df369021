#include "tests/netem/config.h"

#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skerry::netem {
namespace {

using nlohmann::json;

// Reads members and remembers the first thing that is wrong.
class Reader {
 public:
  Reader(const json& object, std::string where)
      : object_(object), where_(std::move(where)) {
    if (!object.is_object()) Fail("", "is not an object");
  }

  void Text(const char* key, std::string& value, bool is_required) {
    const json* member = Find(key, is_required);
    if (member == nullptr) return;
    if (!member->is_string()) return Fail(key, "is not a string");
    value = member->get<std::string>();
  }
  void Number(const char* key, double& value) {
    const json* member = Find(key, false);
    if (member == nullptr) return;
    if (!member->is_number() || member->get<double>() < 0) {
      return Fail(key, "is not a number >= 0");
    }
    value = member->get<double>();
  }
  void Milliseconds(const char* key, absl::Duration& value) {
    double ms = absl::ToDoubleMilliseconds(value);
    Number(key, ms);
    value = absl::Milliseconds(ms);
  }
  // Also finds members that nobody asked for.
  absl::Status Finish() {
    if (status_.ok() && object_.is_object()) {
      for (const auto& [key, value] : object_.items()) {
        if (!asked_.contains(key)) Fail(key, "is not known");
      }
    }
    return status_;
  }
  void Ignore(const char* key) { asked_.insert(key); }
  void Fail(const std::string& key, const char* what) {
    if (!status_.ok()) return;
    status_ = absl::InvalidArgumentError(
        absl::StrCat(where_, key.empty() ? "" : ".", key, " ", what));
  }

 private:
  const json* Find(const char* key, bool is_required) {
    asked_.insert(key);
    if (!object_.is_object()) return nullptr;
    const auto it = object_.find(key);
    if (it != object_.end()) return &*it;
    if (is_required) Fail(key, "is missing");
    return nullptr;
  }

  const json& object_;
  const std::string where_;
  std::set<std::string> asked_;
  absl::Status status_;
};

absl::Status ReadIsland(const json& object, const std::string& where,
                        IslandConfig& island) {
  Reader reader(object, where);
  reader.Text("name", island.name, true);
  reader.Number("up_mbit", island.up_mbit);
  reader.Number("down_mbit", island.down_mbit);
  return reader.Finish();
}

absl::Status ReadLink(const json& object, const std::string& where,
                      LinkConfig& link) {
  Reader reader(object, where);
  reader.Text("name", link.name, true);
  reader.Text("listen", link.listen, false);
  reader.Text("target", link.target, true);
  reader.Text("from", link.from, false);
  reader.Text("to", link.to, false);
  reader.Number("out_mbit", link.mbit[kOut]);
  reader.Number("in_mbit", link.mbit[kIn]);
  reader.Milliseconds("out_delay_ms", link.path[kOut].delay);
  reader.Milliseconds("in_delay_ms", link.path[kIn].delay);
  for (PathOptions& path : link.path) {
    reader.Milliseconds("jitter_ms", path.jitter);
    reader.Number("stalls_per_mb", path.stalls_per_mb);
    reader.Milliseconds("stall_ms", path.stall);
  }
  return reader.Finish();
}

template <typename T, typename Read>
absl::Status ReadList(const json& root, const char* key, Read read,
                      std::vector<T>& list) {
  const auto it = root.find(key);
  if (it == root.end()) return absl::OkStatus();
  if (!it->is_array()) {
    return absl::InvalidArgumentError(absl::StrCat(key, " is not a list"));
  }
  for (const json& object : *it) {
    const std::string where = absl::StrCat(key, "[", list.size(), "]");
    const absl::Status status = read(object, where, list.emplace_back());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// Names are unique among links and islands together: commands name either.
absl::Status CheckNames(const RelayConfig& config) {
  std::set<std::string> islands;
  std::set<std::string> names;
  for (const IslandConfig& island : config.islands) {
    islands.insert(island.name);
    if (!names.insert(island.name).second || island.name == "all") {
      return absl::InvalidArgumentError(
          absl::StrCat("the name ", island.name, " is taken"));
    }
  }
  for (const LinkConfig& link : config.links) {
    if (!names.insert(link.name).second || link.name == "all") {
      return absl::InvalidArgumentError(
          absl::StrCat("the name ", link.name, " is taken"));
    }
    for (const std::string& island : {link.from, link.to}) {
      if (!island.empty() && !islands.contains(island)) {
        return absl::InvalidArgumentError(
            absl::StrCat("link ", link.name, ": there is no island ", island));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RelayConfig> ParseRelayConfig(const std::string& text) {
  const json root = json::parse(text, nullptr, false);
  if (root.is_discarded()) {
    return absl::InvalidArgumentError("the configuration is not JSON");
  }
  Reader reader(root, "configuration");
  RelayConfig config;
  double seed = 1;
  reader.Number("seed", seed);
  config.seed = static_cast<uint64_t>(seed);
  reader.Ignore("islands");
  reader.Ignore("links");
  absl::Status status = reader.Finish();
  if (status.ok()) {
    status = ReadList(root, "islands", ReadIsland, config.islands);
  }
  if (status.ok()) status = ReadList(root, "links", ReadLink, config.links);
  if (status.ok()) status = CheckNames(config);
  if (!status.ok()) return status;
  return config;
}

}  // namespace skerry::netem
