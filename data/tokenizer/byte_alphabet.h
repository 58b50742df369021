// data/tokenizer/byte_alphabet.h
//
// The 256 characters that byte-level encodings write bytes as in
// tokenizer.json: printable ones stand for themselves, the others for the
// characters from U+0100 on, in order (Radford et al. 2019).
#ifndef SKERRY_DATA_TOKENIZER_BYTE_ALPHABET_H_
#define SKERRY_DATA_TOKENIZER_BYTE_ALPHABET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace skerry::data {

// The code point that stands for `byte`.
int32_t CharacterOfByte(uint8_t byte);

// `bytes` as tokenizer.json writes them.
std::string WriteBytes(std::string_view bytes);

// The bytes that `written` stands for; none when a character stands for none.
std::optional<std::string> ReadBytes(std::string_view written);

}  // namespace skerry::data

#endif  // SKERRY_DATA_TOKENIZER_BYTE_ALPHABET_H_
