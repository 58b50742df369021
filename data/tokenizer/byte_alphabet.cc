#include "data/tokenizer/byte_alphabet.h"

#include <array>
#include <cstddef>

#include "data/tokenizer/character.h"

namespace skerry::data {
namespace {

constexpr bool StandsForItself(int code) {
  return (code >= '!' && code <= '~') || (code >= 0xa1 && code <= 0xac) ||
         (code >= 0xae && code <= 0xff);
}

constexpr std::array<int32_t, 256> Characters() {
  std::array<int32_t, 256> characters{};
  int32_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    characters[static_cast<size_t>(byte)] =
        StandsForItself(byte) ? byte : next++;
  }
  return characters;
}
constexpr std::array<int32_t, 256> kCharacters = Characters();

// By code point: the byte, or -1.
constexpr std::array<int16_t, 0x144> Bytes() {
  std::array<int16_t, 0x144> bytes{};
  for (int16_t& byte : bytes) byte = -1;
  for (int byte = 0; byte < 256; ++byte) {
    bytes[static_cast<size_t>(kCharacters[static_cast<size_t>(byte)])] =
        static_cast<int16_t>(byte);
  }
  return bytes;
}
constexpr std::array<int16_t, 0x144> kBytes = Bytes();

}  // namespace

int32_t CharacterOfByte(uint8_t byte) { return kCharacters[byte]; }

std::string WriteBytes(std::string_view bytes) {
  std::string written;
  for (const char byte : bytes) {
    AppendCharacter(CharacterOfByte(static_cast<uint8_t>(byte)), written);
  }
  return written;
}

std::optional<std::string> ReadBytes(std::string_view written) {
  std::string bytes;
  for (size_t at = 0; at < written.size();) {
    size_t length = 1;
    const int32_t code = DecodeCharacter(written, at, length);
    if (code < 0 || static_cast<size_t>(code) >= kBytes.size() ||
        kBytes[static_cast<size_t>(code)] < 0) {
      return std::nullopt;
    }
    bytes += static_cast<char>(kBytes[static_cast<size_t>(code)]);
    at += length;
  }
  return bytes;
}

}  // namespace skerry::data
