// job/data_facts.h
//
// Describes a prepared data set as one machine finds it.
#ifndef SKERRY_JOB_DATA_FACTS_H_
#define SKERRY_JOB_DATA_FACTS_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace skerry::job {

struct DataFacts {
  std::string path;
  // Why it cannot be read; nothing else is set then.
  std::string error;
  // SHA-256 of manifest.json, 64 lower-case hex digits.
  std::string manifest_sha256;
  // Every token is below it.
  uint64_t vocabulary = 0;
  uint64_t training_tokens = 0;
  uint64_t validation_tokens = 0;
  // Why checkpoints cannot be saved into the folder; empty when they can.
  std::string save_error = {};
  friend bool operator==(const DataFacts&, const DataFacts&) = default;
};

// What the text of PATH/manifest.json says. Any text may be given.
DataFacts DataFactsOf(const std::string& path, std::string_view manifest);

}  // namespace skerry::job

#endif  // SKERRY_JOB_DATA_FACTS_H_
