// Any bytes as a model of sentencepiece: what is accepted cuts every text
// somewhere in it, or not at all.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "data/sentencepiece/model_file.h"
#include "data/sentencepiece/text_cuts.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto model = skerry::data::ParseSentencePieceModel(bytes);
  if (!model.ok()) return 0;
  SKERRY_CHECK(!model->pieces.empty());
  const auto end = skerry::data::EndPiece(*model);
  SKERRY_CHECK(!end.has_value() ||
               (*end >= 0 && static_cast<size_t>(*end) < model->pieces.size()));
  const skerry::data::TextCuts cuts(*model);
  const std::string_view text = "The sea's  1234 \xff\n\na \xe2\x96\x81 b\n";
  for (size_t at = 2; at <= text.size(); ++at) {
    const size_t cut = cuts.Next(text, at);
    SKERRY_CHECK(cut >= at && cut <= text.size());
    if (cut == text.size()) continue;
    const auto beginning = cuts.BeginningOf(text.substr(cut));
    SKERRY_CHECK(beginning.skipped <= 1);
    SKERRY_CHECK(beginning.skipped == 0 || !beginning.drops_first);
  }
  return 0;
}
