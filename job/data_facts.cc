#include "job/data_facts.h"

#include <cstddef>
#include <span>

#include "absl/strings/str_cat.h"
#include "base/sha256.h"
#include "data/manifest.h"

namespace skerry::job {

DataFacts DataFactsOf(const std::string& path, std::string_view manifest) {
  DataFacts facts;
  facts.path = path;
  const auto parsed = data::ParseManifest(manifest);
  if (!parsed.ok()) {
    facts.error =
        absl::StrCat(path, "/manifest.json: ", parsed.status().message());
    return facts;
  }
  facts.manifest_sha256 = Sha256Hex(std::as_bytes(std::span(manifest)));
  facts.vocabulary = static_cast<uint64_t>(parsed->vocab_size);
  facts.training_tokens = data::TokenCount(*parsed, data::Split::kTrain);
  facts.validation_tokens = data::TokenCount(*parsed, data::Split::kValidation);
  return facts;
}

}  // namespace skerry::job
