#include "cli/job_words.h"

#include <map>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "cli/table.h"

namespace skerry::cli {

std::string PhaseText(v1::JobPhase phase) {
  const std::string& name = v1::JobPhase_Name(phase);
  return absl::AsciiStrToLower(absl::StripPrefix(name, "JOB_PHASE_"));
}

std::string MethodText(v1::JobSpec::OuterMethod method) {
  const std::string& name = v1::JobSpec::OuterMethod_Name(method);
  return absl::AsciiStrToLower(absl::StripPrefix(name, "OUTER_METHOD_"));
}

bool HasTokens(const v1::JobView& job) {
  return !job.spec().model().has_program();
}

std::string SpeedCell(const v1::JobView& job) {
  return HasTokens(job) ? absl::StrFormat("%.0f", job.counters().tokens_per_s())
                        : SamplesRateText(job.counters().samples_per_s());
}

std::string SpeedText(const v1::JobView& job) {
  return SpeedCell(job) + (HasTokens(job) ? " tokens/s" : "");
}

std::string MetricsText(const v1::JobView& job) {
  // Protobuf's maps have no order.
  const std::map<std::string, double> metrics(job.metrics().begin(),
                                              job.metrics().end());
  std::vector<std::string> parts;
  for (const auto& [name, value] : metrics) {
    parts.push_back(absl::StrFormat("%s %.4g", name, value));
  }
  return absl::StrJoin(parts, ", ");
}

}  // namespace skerry::cli
