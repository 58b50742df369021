#include "cli/cluster_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status.h"
#include "cli/read_file.h"
#include "cli/simulation.pb.h"
#include "cli/yaml_fields.h"
#include "google/protobuf/util/json_util.h"

namespace skerry::cli {
namespace {

constexpr size_t kFileBytesMax = 1 << 20;
constexpr uint32_t kIslandsMax = 64;
constexpr uint32_t kWorkersMax = 256;
constexpr double kBytesPerMbit = 1e6 / 8;

// More than any machine or network has; what is above is a mistake, and times
// that follow from it could not be added up.
double HighestOf(std::string_view field) {
  constexpr std::pair<std::string_view, double> kHighest[] = {
      {"samples_per_s", 1e9},
      {"seconds_per_sample", 1e6},
      {"flops_per_s", 1e21},
      {"up_mbit_s", 1e8},
      {"down_mbit_s", 1e8},
      {"mbit_s", 1e8},
      {"rtt_ms", 1e6},
      {"coordinator_rtt_ms", 1e6},
      {"lease_s", 86400},
      {"start_s", 86400},
      {"host_ns_per_element", 1e6},
      {"jitter", 1},
  };
  for (const auto& [name, highest] : kHighest) {
    if (name == field) return highest;
  }
  SKERRY_CHECK(false);
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  sim::ClusterShape Read(const ClusterFile& file, double flops_per_sample);
  absl::Status Problems() const {
    if (problems_.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(problems_, "\n"));
  }

 private:
  void Require(bool fine, const std::string& where, const std::string& what) {
    if (fine) return;
    problems_.push_back(absl::StrCat(path_, ": ", where, ": ", what));
  }
  // A number that is given is above 0, or at least 0.
  template <typename Message>
  double Number(const Message& message, const char* field,
                const std::string& where, double standard, bool zero = false);
  sim::IslandShape Island(const ClusterFile::Island& island,
                          const std::string& where, double flops_per_sample);
  void Link(const ClusterFile::Link& link, const std::string& where,
            sim::ClusterShape& cluster);

  const std::string& path_;
  std::vector<std::string> problems_;
};

template <typename Message>
double Reader::Number(const Message& message, const char* field,
                      const std::string& where, double standard, bool zero) {
  const auto* found = message.GetDescriptor()->FindFieldByName(field);
  if (!message.GetReflection()->HasField(message, found)) return standard;
  const double value = message.GetReflection()->GetDouble(message, found);
  const double high = HighestOf(field);
  const bool fine = (value > 0 || (zero && value == 0)) && value <= high;
  Require(fine, absl::StrCat(where, field),
          absl::StrCat("has to be ", zero ? "at least" : "above",
                       " 0 and at most ", high, ", not ", value));
  return fine ? value : standard;
}

sim::IslandShape Reader::Island(const ClusterFile::Island& island,
                                const std::string& where,
                                double flops_per_sample) {
  sim::IslandShape shape;
  shape.name = island.name();
  Require(!shape.name.empty(), where + "name", "is needed");
  if (island.has_workers()) shape.workers = island.workers();
  Require(
      shape.workers >= 1 && shape.workers <= kWorkersMax, where + "workers",
      absl::StrCat("has to be 1 to ", kWorkersMax, ", not ", shape.workers));
  const int speeds = island.has_samples_per_s() +
                     island.has_seconds_per_sample() + island.has_flops_per_s();
  Require(speeds == 1, where.substr(0, where.size() - 1),
          "needs one of samples_per_s, seconds_per_sample and flops_per_s");
  double seconds = Number(island, "seconds_per_sample", where, 0);
  const double samples = Number(island, "samples_per_s", where, 0);
  const double flops = Number(island, "flops_per_s", where, 0);
  if (samples > 0) seconds = 1 / samples;
  if (flops > 0) seconds = flops_per_sample / flops;
  Require(flops == 0 || flops_per_sample > 0, where + "flops_per_s",
          "says nothing where the operations of a sample are not known; give "
          "samples_per_s");
  Require(seconds <= HighestOf("seconds_per_sample"), where + "flops_per_s",
          absl::StrCat("makes a sample take ", seconds, " seconds"));
  shape.compute = absl::Seconds(seconds);
  shape.up_bytes_per_s = kBytesPerMbit * Number(island, "up_mbit_s", where, 0);
  shape.down_bytes_per_s =
      kBytesPerMbit * Number(island, "down_mbit_s", where, 0);
  shape.round_trip =
      absl::Milliseconds(Number(island, "rtt_ms", where, 0, true));
  return shape;
}

void Reader::Link(const ClusterFile::Link& link, const std::string& where,
                  sim::ClusterShape& cluster) {
  std::optional<size_t> ends[2];
  const std::pair<const char*, const std::string*> names[] = {
      {"from", &link.from()}, {"to", &link.to()}};
  for (int end = 0; end < 2; ++end) {
    for (size_t i = 0; i < cluster.islands.size(); ++i) {
      if (cluster.islands[i].name == *names[end].second) ends[end] = i;
    }
    Require(ends[end].has_value(), where + names[end].first,
            absl::StrCat("names no island: ", *names[end].second));
  }
  const sim::IslandLink shape{
      kBytesPerMbit * Number(link, "mbit_s", where, 0),
      absl::Milliseconds(Number(link, "rtt_ms", where, 0, true))};
  if (!ends[0].has_value() || !ends[1].has_value()) return;
  const bool fresh =
      cluster.links.emplace(std::minmax(*ends[0], *ends[1]), shape).second;
  Require(*ends[0] != *ends[1], where.substr(0, where.size() - 1),
          "joins an island with itself");
  Require(fresh, where.substr(0, where.size() - 1),
          absl::StrCat("is given twice: ", link.from(), " and ", link.to()));
}

sim::ClusterShape Reader::Read(const ClusterFile& file,
                               double flops_per_sample) {
  sim::ClusterShape cluster;
  Require(file.islands_size() >= 1 &&
              file.islands_size() <= static_cast<int>(kIslandsMax),
          "islands",
          absl::StrCat("has to list 1 to ", kIslandsMax, ", not ",
                       file.islands_size()));
  for (int i = 0; i < file.islands_size(); ++i) {
    const std::string where = absl::StrCat("islands[", i, "].");
    for (const sim::IslandShape& other : cluster.islands) {
      Require(other.name != file.islands(i).name(), where + "name",
              absl::StrCat("is given twice: ", other.name));
    }
    cluster.islands.push_back(Island(file.islands(i), where, flops_per_sample));
  }
  for (int i = 0; i < file.links_size(); ++i) {
    Link(file.links(i), absl::StrCat("links[", i, "]."), cluster);
  }
  cluster.coordinator_round_trip = absl::Milliseconds(
      Number(file, "coordinator_rtt_ms", "", 1, /*zero=*/true));
  cluster.lease = absl::Seconds(Number(file, "lease_s", "", 10));
  cluster.start = absl::Seconds(Number(file, "start_s", "", 2, true));
  cluster.host_ns_per_element =
      Number(file, "host_ns_per_element", "", 1, true);
  cluster.jitter = Number(file, "jitter", "", 0, true);
  Require(cluster.jitter < 1, "jitter", "has to be below 1");
  return cluster;
}

}  // namespace

absl::StatusOr<sim::ClusterShape> ReadClusterFile(const std::string& path,
                                                  double flops_per_sample) {
  SKERRY_ASSIGN_OR_RETURN(const std::string text,
                          ReadFile(path, kFileBytesMax));
  SKERRY_ASSIGN_OR_RETURN(const std::string json,
                          YamlToJson(path, text, *ClusterFile::descriptor()));
  ClusterFile file;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage(json, &file, {});
  if (!parsed.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": ", std::string(parsed.message())));
  }
  Reader reader(path);
  sim::ClusterShape cluster = reader.Read(file, flops_per_sample);
  SKERRY_RETURN_IF_ERROR(reader.Problems());
  return cluster;
}

sim::ClusterShape FirstIslands(const sim::ClusterShape& cluster, size_t count) {
  sim::ClusterShape first = cluster;
  first.islands.resize(count);
  std::erase_if(first.links, [count](const auto& link) {
    return link.first.second >= count;
  });
  return first;
}

}  // namespace skerry::cli
