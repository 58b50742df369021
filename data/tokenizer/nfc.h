// data/tokenizer/nfc.h
//
// Normalization Form C of Unicode (UAX #15): characters that can be written in
// several ways are written in one. The version of Unicode is that of the
// `tokenizers` package (data/tokenizer/canonical_pairs.h).
#ifndef SKERRY_DATA_TOKENIZER_NFC_H_
#define SKERRY_DATA_TOKENIZER_NFC_H_

#include <string>
#include <string_view>

namespace skerry::data {

// True only if ToNfc would return the same bytes. False where that takes more
// than a look at each character.
bool IsNfc(std::string_view text);

// Any bytes may be given. Bytes that are no UTF-8 stay as they are, and nothing
// is composed across them. Takes memory in proportion to the text.
std::string ToNfc(std::string_view text);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_NFC_H_
