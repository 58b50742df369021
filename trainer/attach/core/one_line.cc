#include "trainer/attach/core/one_line.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace skerry::trainer::attach {
namespace {

// The bytes of the character that begins with `text`, 0 when there is none.
// Requires: `text` is not empty.
size_t CharacterBytes(absl::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  if (byte(0) < 0x80) return 1;
  // The second byte is what keeps out characters that are written too long,
  // halves of pairs, and what is beyond the last character.
  size_t size = 0;
  unsigned char least = 0x80;
  unsigned char most = 0xbf;
  if (byte(0) >= 0xc2 && byte(0) <= 0xdf) {
    size = 2;
  } else if (byte(0) >= 0xe0 && byte(0) <= 0xef) {
    size = 3;
    if (byte(0) == 0xe0) least = 0xa0;
    if (byte(0) == 0xed) most = 0x9f;
  } else if (byte(0) >= 0xf0 && byte(0) <= 0xf4) {
    size = 4;
    if (byte(0) == 0xf0) least = 0x90;
    if (byte(0) == 0xf4) most = 0x8f;
  }
  if (size == 0 || text.size() < size) return 0;
  if (byte(1) < least || byte(1) > most) return 0;
  for (size_t i = 2; i < size; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xbf) return 0;
  }
  return size;
}

}  // namespace

std::string OneLine(absl::string_view text) {
  std::string line;
  text = absl::StripAsciiWhitespace(text);
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    if (line.size() + bytes > kOneLineBytesMax) break;
    if (bytes == 0) {
      line += '?';
    } else if (bytes == 1) {
      line += absl::ascii_iscntrl(static_cast<unsigned char>(text[0]))
                  ? ' '
                  : text[0];
    } else {
      absl::StrAppend(&line, text.substr(0, bytes));
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
    if (line.size() == kOneLineBytesMax) break;
  }
  return line;
}

}  // namespace skerry::trainer::attach
