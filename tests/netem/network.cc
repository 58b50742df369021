#include "tests/netem/network.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::netem {
namespace {

absl::Status Wrong(const std::string& text) {
  return absl::InvalidArgumentError(text);
}

absl::Status ReadDirections(const std::string& word,
                            std::vector<Direction>& directions) {
  if (word == "out" || word == "both") directions.push_back(kOut);
  if (word == "in" || word == "both") directions.push_back(kIn);
  if (!directions.empty()) return absl::OkStatus();
  return Wrong(absl::StrCat("\"", word, "\" is not out, in or both"));
}

absl::Status ReadNumber(const std::string& word, double& number) {
  if (absl::SimpleAtod(word, &number) && number >= 0) return absl::OkStatus();
  return Wrong(absl::StrCat("\"", word, "\" is not a number >= 0"));
}

}  // namespace

Network::Network(const RelayConfig& config) {
  for (const IslandConfig& island : config.islands) {
    islands_.emplace(
        island.name,
        Island{.buckets = {TokenBucket(BytesPerSecond(island.up_mbit)),
                           TokenBucket(BytesPerSecond(island.down_mbit))}});
  }
  const auto find = [this](const std::string& name) {
    const auto it = islands_.find(name);
    return it == islands_.end() ? nullptr : &it->second;
  };
  for (const LinkConfig& link : config.links) {
    links_.push_back(std::make_unique<Link>(
        Link{.name = link.name,
             .target = link.target,
             .from = find(link.from),
             .to = find(link.to),
             .buckets = {TokenBucket(BytesPerSecond(link.mbit[kOut])),
                         TokenBucket(BytesPerSecond(link.mbit[kIn]))},
             .path = link.path,
             .counters = {}}));
  }
}

std::array<CutMode, 2> Network::CutsOf(const Link& link) const {
  std::array<CutMode, 2> cuts = link.cuts;
  for (const Direction d : {kOut, kIn}) {
    const Island* const leaves = d == kOut ? link.from : link.to;
    const Island* const enters = d == kOut ? link.to : link.from;
    if (leaves != nullptr) cuts[d] = std::max(cuts[d], leaves->cuts[0]);
    if (enters != nullptr) cuts[d] = std::max(cuts[d], enters->cuts[1]);
  }
  return cuts;
}

std::vector<TokenBucket*> Network::BucketsOf(Link& link, Direction direction) {
  std::vector<TokenBucket*> buckets = {&link.buckets[direction]};
  Island* const leaves = direction == kOut ? link.from : link.to;
  Island* const enters = direction == kOut ? link.to : link.from;
  if (leaves != nullptr) buckets.push_back(&leaves->buckets[0]);
  if (enters != nullptr) buckets.push_back(&enters->buckets[1]);
  return buckets;
}

Link* Network::FindLink(const std::string& name) {
  for (const auto& link : links_) {
    if (link->name == name) return link.get();
  }
  return nullptr;
}

absl::Status Network::Find(const std::string& name, Named& named) {
  if (Link* const link = FindLink(name); link != nullptr) {
    named = {{&link->cuts[0], &link->cuts[1]},
             {&link->buckets[0], &link->buckets[1]}};
    return absl::OkStatus();
  }
  const auto it = islands_.find(name);
  if (it == islands_.end()) {
    return Wrong(absl::StrCat("there is no link or island ", name));
  }
  Island& island = it->second;
  named = {{&island.cuts[0], &island.cuts[1]},
           {&island.buckets[0], &island.buckets[1]}};
  return absl::OkStatus();
}

absl::Status Network::Cut(const std::vector<std::string>& words) {
  const bool drops = words.size() == 4 && words[3] == "drop";
  if (words.size() == 4 && !drops) {
    return Wrong(absl::StrCat("\"", words[3], "\" is not drop"));
  }
  Named named;
  std::vector<Direction> directions;
  SKERRY_RETURN_IF_ERROR(Find(words[1], named));
  SKERRY_RETURN_IF_ERROR(ReadDirections(words[2], directions));
  for (const Direction d : directions) {
    *named.cuts[d] = drops ? CutMode::kDrop : CutMode::kHold;
  }
  return absl::OkStatus();
}

absl::Status Network::Heal(const std::string& name) {
  if (name == "all") {
    for (auto& [island_name, island] : islands_)
      island.cuts.fill(CutMode::kNone);
    for (const auto& link : links_) link->cuts.fill(CutMode::kNone);
    return absl::OkStatus();
  }
  Named named;
  SKERRY_RETURN_IF_ERROR(Find(name, named));
  for (CutMode* cut : named.cuts) *cut = CutMode::kNone;
  return absl::OkStatus();
}

absl::Status Network::SetRate(const std::vector<std::string>& words) {
  Named named;
  std::vector<Direction> directions;
  double mbit = 0;
  SKERRY_RETURN_IF_ERROR(Find(words[1], named));
  SKERRY_RETURN_IF_ERROR(ReadDirections(words[2], directions));
  SKERRY_RETURN_IF_ERROR(ReadNumber(words[3], mbit));
  for (const Direction d : directions) {
    named.buckets[d]->SetRate(BytesPerSecond(mbit));
  }
  return absl::OkStatus();
}

absl::Status Network::SetPath(const std::vector<std::string>& words) {
  Link* const link = FindLink(words[1]);
  if (link == nullptr) {
    return Wrong(absl::StrCat("there is no link ", words[1]));
  }
  if (words[0] == "target") {
    link->target = words[2];
    return absl::OkStatus();
  }
  double first = 0;
  double last = 0;
  SKERRY_RETURN_IF_ERROR(ReadNumber(words.back(), last));
  if (words[0] == "delay") {
    std::vector<Direction> directions;
    SKERRY_RETURN_IF_ERROR(ReadDirections(words[2], directions));
    for (const Direction d : directions) {
      link->path[d].delay = absl::Milliseconds(last);
    }
    return absl::OkStatus();
  }
  SKERRY_RETURN_IF_ERROR(ReadNumber(words[2], first));
  for (PathOptions& path : link->path) {
    if (words[0] == "jitter") path.jitter = absl::Milliseconds(last);
    if (words[0] != "stalls") continue;
    path.stalls_per_mb = first;
    path.stall = absl::Milliseconds(last);
  }
  return absl::OkStatus();
}

absl::Status Network::Reset(const std::string& name) {
  bool is_found = name == "all";
  for (const auto& link : links_) {
    if (name != "all" && name != link->name) continue;
    link->wants_reset = true;
    is_found = true;
  }
  if (is_found) return absl::OkStatus();
  return Wrong(absl::StrCat("there is no link ", name));
}

absl::Status Network::Execute(const std::vector<std::string>& words) {
  const std::string& verb = words.at(0);
  const size_t n = words.size();
  if (verb == "cut" && (n == 3 || n == 4)) return Cut(words);
  if (verb == "heal" && n == 2) return Heal(words[1]);
  if (verb == "rate" && n == 4) return SetRate(words);
  if (verb == "reset" && n == 2) return Reset(words[1]);
  if ((verb == "delay" || verb == "stalls") && n == 4) return SetPath(words);
  if ((verb == "jitter" || verb == "target") && n == 3) return SetPath(words);
  return Wrong(
      absl::StrCat("\"", verb, "\" with ", n - 1, " words is not a command"));
}

std::string Network::StatsJson() const {
  nlohmann::ordered_json json;
  json["links"] = nlohmann::ordered_json::object();
  for (const auto& link : links_) {
    json["links"][link->name] = {
        {"out_bytes", link->counters[kOut].bytes},
        {"in_bytes", link->counters[kIn].bytes},
        {"out_bytes_dropped", link->counters[kOut].bytes_dropped},
        {"in_bytes_dropped", link->counters[kIn].bytes_dropped}};
  }
  return json.dump();
}

}  // namespace skerry::netem
