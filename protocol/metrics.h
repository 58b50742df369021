// protocol/metrics.h
//
// Defines the numbers that a training program reports beside its loss. The
// program names them, and nothing in Skerry knows what they mean.
#ifndef SKERRY_PROTOCOL_METRICS_H_
#define SKERRY_PROTOCOL_METRICS_H_

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"

namespace skerry::protocol {

using Metrics = std::map<std::string, double>;

inline constexpr size_t kMetricsMax = 16;
inline constexpr size_t kMetricNameBytesMax = 32;

// Returns true for 1 to 32 letters, digits, `_`, `.`, `/` and `-`.
inline bool IsMetricName(std::string_view name) {
  return !name.empty() && name.size() <= kMetricNameBytesMax &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  std::string_view("_./-").find(c) != std::string_view::npos;
         });
}

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_METRICS_H_
