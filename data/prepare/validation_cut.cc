#include "data/prepare/validation_cut.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace skerry::data {
namespace {

constexpr size_t kWindowBytes = size_t{1} << 18;
// A character of UTF-8 has no more.
constexpr uint64_t kCharacterBytesMax = 4;

// The last place up to `at` where a character begins. Bytes that are no UTF-8
// stay where they are.
size_t CharacterStart(std::string_view text, size_t at) {
  for (size_t start = at + 1; start-- > 0 && at - start < kCharacterBytesMax;) {
    const bool is_tail = start < text.size() &&
                         (static_cast<uint8_t>(text[start]) & 0xc0) == 0x80;
    if (!is_tail) return start;
  }
  return at;
}

absl::Status Changed(const InputReader& reader) {
  return absl::FailedPreconditionError(absl::StrCat(
      reader.path(), " has changed while it was read; start again"));
}

Cut At(uint64_t byte, uint64_t text) {
  return {.byte = byte, .text = text, .training_end = byte};
}

bool IsAllowed(const Cut& cut, const CutOptions& options) {
  const uint64_t off = cut.text > options.wanted ? cut.text - options.wanted
                                                 : options.wanted - cut.text;
  return off <= options.tolerance &&
         (cut.text > 0 || options.has_text_before) &&
         (cut.text < options.all || options.has_text_after);
}

// The best of the places around the wanted one: where a line or document ends
// behind it, where it begins, and inside it.
Cut Best(Cut after, Cut before, Cut inside, const CutOptions& options) {
  if (IsAllowed(after, options)) return after;
  return IsAllowed(before, options) ? before : inside;
}

// Drops what lies before `place`, and returns where the last line before it
// begins, at least `line`.
absl::StatusOr<uint64_t> SkipLines(InputReader& reader, uint64_t place,
                                   uint64_t line) {
  while (reader.position() < place) {
    const uint64_t left = place - reader.position();
    SKERRY_RETURN_IF_ERROR(reader.Fill(std::min<uint64_t>(left, kWindowBytes)));
    const std::string_view chunk =
        reader.window().substr(0, static_cast<size_t>(left));
    if (chunk.empty()) return Changed(reader);
    const size_t feed = chunk.rfind('\n');
    if (feed != chunk.npos) line = reader.position() + feed + 1;
    reader.Drop(chunk.size());
  }
  return line;
}

// Where the line ends that `reader` is in.
absl::StatusOr<uint64_t> FindLineEnd(InputReader& reader) {
  while (true) {
    SKERRY_RETURN_IF_ERROR(reader.Fill(kWindowBytes));
    const std::string_view window = reader.window();
    if (window.empty()) return reader.position();
    const size_t feed = window.find('\n');
    if (feed != window.npos) return reader.position() + feed + 1;
    reader.Drop(window.size());
  }
}

// The document of JSON lines in which the wanted place lies.
struct Around {
  Cut before;
  Cut after;
  Cut inside;
};

Around CutsOf(const PlacedText& text, Cut before, size_t end_bytes,
              const CutOptions& options) {
  Around around{before, At(text.end, before.text + text.text.size()), {}};
  const size_t size = text.text.size() - end_bytes;
  const size_t torn =
      CharacterStart(std::string_view(text.text).substr(0, size),
                     static_cast<size_t>(options.wanted - before.text));
  if (torn == 0) {
    around.inside = before;
  } else if (torn >= size) {
    around.inside = around.after;
  } else {
    around.inside = {.byte = text.begin,
                     .text = before.text + torn,
                     .torn = torn,
                     .training_end = text.end};
  }
  return around;
}

}  // namespace

absl::StatusOr<Cut> CutText(InputReader& reader, const CutOptions& options) {
  const uint64_t wanted = options.wanted;
  SKERRY_ASSIGN_OR_RETURN(
      uint64_t before,
      SkipLines(reader, wanted - std::min(wanted, kCharacterBytesMax), 0));
  SKERRY_RETURN_IF_ERROR(reader.Fill(wanted - reader.position() + 1));
  if (reader.window().size() < wanted - reader.position()) {
    return Changed(reader);
  }
  const uint64_t inside =
      reader.position() +
      CharacterStart(reader.window(),
                     static_cast<size_t>(wanted - reader.position()));
  SKERRY_ASSIGN_OR_RETURN(before, SkipLines(reader, wanted, before));
  uint64_t after = wanted;
  if (before < wanted) {
    SKERRY_ASSIGN_OR_RETURN(after, FindLineEnd(reader));
  }
  Cut best =
      Best(At(after, after), At(before, before),
           inside == 0 ? At(wanted, wanted) : At(inside, inside), options);
  const uint64_t at_end = options.has_text_after ? options.all : wanted;
  best.is_as_before = best.byte == (after < options.all ? after : at_end);
  return best;
}

absl::StatusOr<Cut> CutJsonLines(InputReader& reader, uint64_t text_before,
                                 const TextForm& form,
                                 const CutOptions& options) {
  Cut before = At(reader.position(), text_before);
  std::optional<Around> around;
  JsonLineCounts counts;
  for (size_t bytes = kWindowBytes; !around.has_value();) {
    SKERRY_RETURN_IF_ERROR(reader.Fill(bytes));
    const Window window{reader.window(), reader.position(), reader.line(),
                        reader.at_end()};
    if (window.bytes.empty()) return Changed(reader);
    const std::vector<TextUnit> units =
        UnitsIn(window, kWindowBytes, 1, nullptr);
    if (units.empty()) {
      bytes *= 2;
      continue;
    }
    const absl::Status read = ForEachText(
        units[0], form,
        [&](PlacedText text) {
          if (around.has_value()) return;
          if (before.text + text.text.size() >= options.wanted) {
            around = CutsOf(text, before, form.json_line_end.size(), options);
          } else {
            before = At(text.end, before.text + text.text.size());
          }
        },
        counts);
    if (!read.ok()) return Annotate(read, reader.path());
    reader.Drop(units[0].bytes.size());
  }
  Cut best = Best(around->after, around->before, around->inside, options);
  const bool ends_all =
      around->after.text >= options.all && !options.has_text_after;
  best.is_as_before =
      best.torn == 0 &&
      best.byte == (ends_all ? around->before.byte : around->after.byte);
  return best;
}

}  // namespace skerry::data
