// Any text as a tokenizer.json, and then any bytes as a text: what is accepted
// encodes every text, and decoding gives its bytes again. A normal form is its
// own normal form.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "data/byte_tokenizer_json.h"
#include "data/tokenizer/nfc.h"
#include "data/tokenizer/tokenizer_json.h"

namespace {

using skerry::data::Tokenizer;

void CheckRoundTrip(const Tokenizer& tokenizer, std::string_view text) {
  skerry::data::TextEncoder encoder(tokenizer);
  const std::vector<int32_t> tokens = encoder.Encode(text);
  // A second time the pieces are remembered.
  SKERRY_CHECK(encoder.Encode(text) == tokens);
  const auto decoded = tokenizer.Decode(tokens, Tokenizer::Specials::kKeep);
  SKERRY_CHECK(decoded.ok());
  SKERRY_CHECK(*decoded == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static const Tokenizer& bytes = *new Tokenizer(
      skerry::data::ParseTokenizerJson(skerry::data::ByteTokenizerJson())
          .value());
  CheckRoundTrip(bytes, text);
  const std::string normal = skerry::data::ToNfc(text);
  SKERRY_CHECK(skerry::data::ToNfc(normal) == normal);
  SKERRY_CHECK(!skerry::data::IsNfc(text) || normal == text);
  const auto tokenizer = skerry::data::ParseTokenizerJson(text);
  if (!tokenizer.ok()) return 0;
  std::vector<int32_t> tokens =
      skerry::data::TextEncoder(*tokenizer).Encode("The sea's 1234 \xff\n\n");
  SKERRY_CHECK(tokenizer->Decode(tokens, Tokenizer::Specials::kKeep).ok());
  return 0;
}
