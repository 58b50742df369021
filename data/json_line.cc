#include "data/json_line.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"

namespace skerry::data {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr uint32_t kReplacement = 0xfffd;

absl::string_view Absl(std::string_view text) {
  return {text.data(), text.size()};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsTail(uint8_t byte) { return (byte & 0xc0) == 0x80; }

// Bytes of the character that `text` begins with; 0 when they are no UTF-8.
size_t CharacterBytes(std::string_view text) {
  const auto at = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const uint8_t first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xc2) return 0;
  if (first < 0xe0) return IsTail(at(1)) ? 2 : 0;
  if (first < 0xf0) {
    // Neither a longer form than is needed, nor half of a pair.
    if ((first == 0xe0 && at(1) < 0xa0) || (first == 0xed && at(1) > 0x9f)) {
      return 0;
    }
    return IsTail(at(1)) && IsTail(at(2)) ? 3 : 0;
  }
  if (first > 0xf4 || (first == 0xf0 && at(1) < 0x90) ||
      (first == 0xf4 && at(1) > 0x8f)) {
    return 0;
  }
  return IsTail(at(1)) && IsTail(at(2)) && IsTail(at(3)) ? 4 : 0;
}

void AppendCharacter(uint32_t c, std::string& text) {
  const auto tail = [&](int shift) {
    text += static_cast<char>(0x80 | ((c >> shift) & 0x3f));
  };
  if (c < 0x80) {
    text += static_cast<char>(c);
  } else if (c < 0x800) {
    text += static_cast<char>(0xc0 | (c >> 6));
    tail(0);
  } else if (c < 0x10000) {
    text += static_cast<char>(0xe0 | (c >> 12));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | (c >> 18));
    tail(12);
    tail(6);
    tail(0);
  }
}

// A key as a message shows it: short, and on one line.
std::string Shown(std::string_view key) {
  constexpr size_t kBytesMax = 40;
  size_t size = 0;
  while (size < key.size()) {
    const size_t next = size + CharacterBytes(key.substr(size));
    if (next > kBytesMax) break;
    size = next;
  }
  std::string shown(key.substr(0, size));
  for (char& c : shown) {
    if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return shown;
}

class Scanner {
 public:
  explicit Scanner(std::string_view line) : line_(line) {
    if (line_.starts_with(kByteOrderMark)) at_ = kByteOrderMark.size();
  }

  // Reads the object. `found` becomes the string under `key`; `other` names
  // what stands there instead.
  absl::Status Object(std::string_view key, std::optional<std::string>& found,
                      std::string& other);
  // Keys of the object, the first few.
  const std::string& keys() const { return keys_; }

 private:
  char Peek() const { return at_ < line_.size() ? line_[at_] : '\0'; }
  bool AtEnd() const { return at_ >= line_.size(); }
  void SkipBlanks() {
    while (!AtEnd() && (Peek() == ' ' || Peek() == '\t' || Peek() == '\r' ||
                        Peek() == '\n')) {
      ++at_;
    }
  }
  bool Take(char c) {
    if (AtEnd() || line_[at_] != c) return false;
    ++at_;
    return true;
  }
  absl::Status Wrong(absl::string_view what) const {
    return WrongAt(at_, what);
  }
  absl::Status WrongAt(size_t at, absl::string_view what) const;
  // What is here instead of `wanted`.
  absl::Status Expected(absl::string_view wanted) const;

  // A string with its quotes; `text` may be null.
  absl::Status String(std::string* text);
  absl::Status Escape(std::string* text);
  absl::StatusOr<uint32_t> FourDigits();
  // A string and the colon after it.
  absl::Status Key(std::string& key);
  absl::Status Scalar();
  absl::Status Number();
  // Any value with all that is in it.
  absl::Status Value();
  // Goes in where an array or object opens, until something stands there that
  // does not: sets `is_value` when a value has to follow.
  absl::Status Open(std::string& inside, bool& is_value);
  // Goes on after a value, out of what ends there: likewise.
  absl::Status Close(std::string& inside, bool& is_value);

  std::string_view line_;
  size_t at_ = 0;
  std::string keys_;
};

absl::Status Scanner::WrongAt(size_t at, absl::string_view what) const {
  size_t column = 1;
  for (size_t i = 0; i < at && i < line_.size(); ++i) {
    column += IsTail(static_cast<uint8_t>(line_[i])) ? 0 : 1;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("column ", column, ": ", what));
}

absl::Status Scanner::Expected(absl::string_view wanted) const {
  if (AtEnd()) {
    return Wrong(absl::StrCat("the line ends where ", wanted,
                              " has to stand; it may be cut off"));
  }
  const char c = Peek();
  const bool prints = c > ' ' && c < 0x7f;
  return Wrong(absl::StrCat(
      "expected ", wanted, ", not ",
      prints ? absl::StrFormat("'%c'", c)
             : absl::StrFormat("the byte %02X", static_cast<uint8_t>(c))));
}

absl::StatusOr<uint32_t> Scanner::FourDigits() {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i, ++at_) {
    const char c = Peek();
    uint32_t digit = 0;
    if (IsDigit(c)) {
      digit = static_cast<uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<uint32_t>(c - 'a' + 10);
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<uint32_t>(c - 'A' + 10);
    } else {
      return Expected("four hexadecimal digits after \\u");
    }
    value = value * 16 + digit;
  }
  return value;
}

absl::Status Scanner::Escape(std::string* text) {
  const char c = Peek();
  static constexpr std::string_view kNames = "\"\\/bfnrt";
  static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (!AtEnd() && c != 'u') {
    const size_t which = kNames.find(c);
    if (which == kNames.npos) {
      return Expected("one of \" \\ / b f n r t u after a backslash");
    }
    ++at_;
    if (text != nullptr) *text += kMeanings[which];
    return absl::OkStatus();
  }
  if (!Take('u')) return Expected("what a backslash begins");
  SKERRY_ASSIGN_OR_RETURN(uint32_t value, FourDigits());
  const bool is_high = value >= 0xd800 && value < 0xdc00;
  if (is_high && line_.substr(at_, 2) == "\\u") {
    const size_t after = at_;
    at_ += 2;
    SKERRY_ASSIGN_OR_RETURN(const uint32_t low, FourDigits());
    if (low >= 0xdc00 && low < 0xe000) {
      value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
    } else {
      at_ = after;
    }
  }
  if (value >= 0xd800 && value < 0xe000) value = kReplacement;
  if (text != nullptr) AppendCharacter(value, *text);
  return absl::OkStatus();
}

absl::Status Scanner::String(std::string* text) {
  const size_t quote = at_;
  if (!Take('"')) return Expected("a string");
  size_t begin = at_;
  const auto take = [&] {
    if (text != nullptr) text->append(line_.substr(begin, at_ - begin));
  };
  while (!AtEnd()) {
    const auto byte = static_cast<uint8_t>(line_[at_]);
    if (byte == '"') {
      take();
      ++at_;
      return absl::OkStatus();
    }
    if (byte == '\\') {
      take();
      ++at_;
      SKERRY_RETURN_IF_ERROR(Escape(text));
      begin = at_;
    } else if (byte < 0x20) {
      return Wrong(absl::StrFormat(
          "the byte %02X stands in a string; write \\u%04x", byte, byte));
    } else if (byte < 0x80) {
      ++at_;
    } else if (const size_t size = CharacterBytes(line_.substr(at_))) {
      at_ += size;
    } else {
      return Wrong(absl::StrFormat(
          "the byte %02X is no UTF-8; if the file is in Latin-1, convert it "
          "with iconv -f LATIN1 -t UTF-8",
          byte));
    }
  }
  return WrongAt(quote,
                 "the string that begins here has no end; the line may "
                 "be cut off");
}

absl::Status Scanner::Key(std::string& key) {
  SkipBlanks();
  if (Peek() != '"') return Expected("a key in quotes");
  key.clear();
  SKERRY_RETURN_IF_ERROR(String(&key));
  SkipBlanks();
  return Take(':') ? absl::OkStatus() : Expected("':' after the key");
}

absl::Status Scanner::Number() {
  const auto digits = [&] {
    const size_t begin = at_;
    while (IsDigit(Peek())) ++at_;
    return at_ > begin;
  };
  (void)Take('-');
  if (line_.substr(at_).starts_with("Infinity")) {
    at_ += 8;
    return absl::OkStatus();
  }
  if (!Take('0') && !digits()) return Expected("a digit");
  if (IsDigit(Peek())) return Wrong("a number begins with a zero");
  if (Take('.') && !digits()) return Expected("a digit after the point");
  if (Take('e') || Take('E')) {
    if (!Take('+')) (void)Take('-');
    if (!digits()) return Expected("a digit of the exponent");
  }
  return absl::OkStatus();
}

absl::Status Scanner::Scalar() {
  const char c = Peek();
  if (c == '"') return String(nullptr);
  if (c == '-' || IsDigit(c)) return Number();
  for (const std::string_view word :
       {"true", "false", "null", "NaN", "Infinity"}) {
    if (!line_.substr(at_).starts_with(word)) continue;
    at_ += word.size();
    return absl::OkStatus();
  }
  return Expected("a value");
}

absl::Status Scanner::Open(std::string& inside, bool& is_value) {
  is_value = true;
  SkipBlanks();
  if (Take('[')) {
    SkipBlanks();
    if (Take(']')) {
      is_value = false;
    } else {
      inside += '[';
    }
    return absl::OkStatus();
  }
  if (Take('{')) {
    SkipBlanks();
    if (Take('}')) {
      is_value = false;
      return absl::OkStatus();
    }
    inside += '{';
    std::string key;
    return Key(key);
  }
  is_value = false;
  return Scalar();
}

absl::Status Scanner::Close(std::string& inside, bool& is_value) {
  is_value = false;
  while (!inside.empty()) {
    SkipBlanks();
    const bool is_array = inside.back() == '[';
    if (Take(',')) {
      is_value = true;
      std::string key;
      return is_array ? absl::OkStatus() : Key(key);
    }
    if (!Take(is_array ? ']' : '}')) {
      return Expected(is_array ? "',' or ']'" : "',' or '}'");
    }
    inside.pop_back();
  }
  return absl::OkStatus();
}

absl::Status Scanner::Value() {
  // The arrays and objects that are open. A stack of calls would end with a
  // line that opens a million of them.
  std::string inside;
  bool is_value = true;
  while (is_value) {
    SKERRY_RETURN_IF_ERROR(Open(inside, is_value));
    if (is_value) continue;
    SKERRY_RETURN_IF_ERROR(Close(inside, is_value));
  }
  return absl::OkStatus();
}

std::string KindOfValue(char first) {
  switch (first) {
    case '{':
      return "an object";
    case '[':
      return "an array";
    case 'n':
      return "null";
    case 't':
    case 'f':
      return "true or false";
    default:
      return "a number";
  }
}

absl::Status Scanner::Object(std::string_view key,
                             std::optional<std::string>& found,
                             std::string& other) {
  SkipBlanks();
  if (!Take('{')) return Expected("a JSON object, which begins with '{'");
  SkipBlanks();
  for (bool is_first = true; !Take('}'); is_first = false) {
    if (!is_first && !Take(',')) return Expected("',' or '}'");
    std::string name;
    SKERRY_RETURN_IF_ERROR(Key(name));
    SkipBlanks();
    if (keys_.size() < 80) {
      absl::StrAppend(&keys_, keys_.empty() ? "" : ", ", Shown(name));
    }
    if (name != key) {
      SKERRY_RETURN_IF_ERROR(Value());
    } else if (Peek() == '"') {
      found.emplace();
      SKERRY_RETURN_IF_ERROR(String(&*found));
    } else {
      found.reset();
      other = KindOfValue(Peek());
      SKERRY_RETURN_IF_ERROR(Value());
    }
    SkipBlanks();
  }
  SkipBlanks();
  return AtEnd() ? absl::OkStatus() : Wrong("more stands after the object");
}

}  // namespace

absl::StatusOr<std::string> TextOfJsonLine(std::string_view line,
                                           std::string_view key) {
  Scanner scanner(line);
  std::optional<std::string> found;
  std::string other;
  SKERRY_RETURN_IF_ERROR(scanner.Object(key, found, other));
  if (found.has_value()) return *std::move(found);
  const absl::string_view name = Absl(key);
  if (!other.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("no string under '", name, "' but ", other));
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "no string under '", name, "'; ",
      scanner.keys().empty()
          ? "the object is empty"
          : absl::StrCat("its keys are ", scanner.keys(),
                         " (--json-key names the one that has the text)")));
}

absl::Status CheckJsonObject(std::string_view line) {
  Scanner scanner(line);
  std::optional<std::string> found;
  std::string other;
  return scanner.Object("", found, other);
}

}  // namespace skerry::data
