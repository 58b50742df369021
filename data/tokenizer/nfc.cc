#include "data/tokenizer/nfc.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "data/tokenizer/canonical_pairs.h"
#include "data/tokenizer/canonical_singletons.h"
#include "data/tokenizer/character.h"
#include "data/tokenizer/combining_classes.h"

namespace skerry::data {
namespace {

// Hangul syllables are composed by arithmetic (The Unicode Standard, 3.12).
constexpr int32_t kSyllables = 0xac00;
constexpr int32_t kLeads = 0x1100;
constexpr int32_t kVowels = 0x1161;
constexpr int32_t kTrailsBefore = 0x11a7;
constexpr int32_t kLeadCount = 19;
constexpr int32_t kVowelCount = 21;
constexpr int32_t kTrailCount = 28;
constexpr int32_t kSyllableCount = kLeadCount * kVowelCount * kTrailCount;

constexpr int32_t kCodesEnd = 0x110000;
// The first character that an NFC text may not have just anywhere.
constexpr int32_t kFirstMark = 0x300;
constexpr uint8_t kFirstMarkByte = 0xcc;

struct Point {
  int32_t code = 0;
  int combining_class = 0;
};

// The tables, arranged to be looked up.
class Tables {
 public:
  static const Tables& Get() {
    static const Tables& tables = *new Tables;
    return tables;
  }

  // Whether the character may change, reorder or compose with what is before
  // it. Any other ends what can be normalized together.
  bool IsActive(int32_t code) const {
    return active_[static_cast<size_t>(code)];
  }

  int CombiningClass(int32_t code) const {
    const auto found = classes_.find(code);
    return found == classes_.end() ? 0 : found->second;
  }

  void Decompose(int32_t code, std::vector<Point>& out) const {
    const int32_t syllable = code - kSyllables;
    if (syllable >= 0 && syllable < kSyllableCount) {
      const int32_t trail = syllable % kTrailCount;
      out.push_back({kLeads + syllable / (kVowelCount * kTrailCount)});
      out.push_back({kVowels + syllable / kTrailCount % kVowelCount});
      if (trail > 0) out.push_back({kTrailsBefore + trail});
      return;
    }
    const auto found = decompositions_.find(code);
    if (found == decompositions_.end()) {
      out.push_back({code, CombiningClass(code)});
      return;
    }
    // At most four steps deep.
    Decompose(found->second.first, out);
    if (found->second.second != 0) Decompose(found->second.second, out);
  }

  std::optional<int32_t> Compose(int32_t first, int32_t second) const {
    const int32_t lead = first - kLeads;
    const int32_t vowel = second - kVowels;
    if (lead >= 0 && lead < kLeadCount && vowel >= 0 && vowel < kVowelCount) {
      return kSyllables + (lead * kVowelCount + vowel) * kTrailCount;
    }
    const int32_t syllable = first - kSyllables;
    const int32_t trail = second - kTrailsBefore;
    if (syllable >= 0 && syllable < kSyllableCount &&
        syllable % kTrailCount == 0 && trail > 0 && trail < kTrailCount) {
      return first + trail;
    }
    const auto found = compositions_.find(PairOf(first, second));
    if (found == compositions_.end()) return std::nullopt;
    return found->second;
  }

 private:
  Tables() : active_(kCodesEnd) {
    for (const CombiningRange& range : CombiningRanges()) {
      for (int32_t code = range.first; code <= range.last; ++code) {
        classes_[code] = range.combining_class;
        active_[static_cast<size_t>(code)] = true;
      }
    }
    size_t at = 0;
    for (const CodeRun& run : SingletonRuns()) {
      for (int32_t i = 0; i < run.count; ++i) {
        decompositions_[run.first + i] = {Singletons()[at++], 0};
        active_[static_cast<size_t>(run.first + i)] = true;
      }
    }
    at = 0;
    for (const CodeRun& run : PairRuns()) {
      for (int32_t i = 0; i < run.count; ++i) {
        AddPair(run.first + i, Pairs()[at++]);
      }
    }
    for (int32_t i = 0; i < kVowelCount; ++i) {
      active_[static_cast<size_t>(kVowels + i)] = true;
    }
    for (int32_t i = 1; i < kTrailCount; ++i) {
      active_[static_cast<size_t>(kTrailsBefore + i)] = true;
    }
  }

  void AddPair(int32_t code, const CodePair& pair) {
    decompositions_[code] = pair;
    const bool composes =
        !std::binary_search(NotComposed().begin(), NotComposed().end(), code);
    if (composes) compositions_[PairOf(pair.first, pair.second)] = code;
    active_[static_cast<size_t>(composes ? pair.second : code)] = true;
  }

  static uint64_t PairOf(int32_t first, int32_t second) {
    return static_cast<uint64_t>(first) << 32 | static_cast<uint64_t>(second);
  }

  std::vector<bool> active_;
  absl::flat_hash_map<int32_t, int> classes_;
  // `second` is 0 where there is one character only.
  absl::flat_hash_map<int32_t, CodePair> decompositions_;
  absl::flat_hash_map<uint64_t, int32_t> compositions_;
};

// Marks stand in the order of their classes, equals as they were.
void Reorder(std::vector<Point>& points) {
  for (size_t begin = 0; begin < points.size();) {
    if (points[begin].combining_class == 0) {
      ++begin;
      continue;
    }
    size_t end = begin;
    while (end < points.size() && points[end].combining_class != 0) ++end;
    std::stable_sort(points.begin() + static_cast<ptrdiff_t>(begin),
                     points.begin() + static_cast<ptrdiff_t>(end),
                     [](const Point& a, const Point& b) {
                       return a.combining_class < b.combining_class;
                     });
    begin = end;
  }
}

// Composes in place, and drops what was taken in.
void Recompose(const Tables& tables, std::vector<Point>& points) {
  size_t kept = 0;
  std::optional<size_t> starter;
  for (const Point& point : points) {
    // A mark is blocked by one of its own class or a higher one before it.
    const bool is_free =
        starter.has_value() &&
        (kept == *starter + 1 ||
         points[kept - 1].combining_class < point.combining_class);
    const auto composed =
        is_free ? tables.Compose(points[*starter].code, point.code)
                : std::nullopt;
    if (composed.has_value()) {
      points[*starter].code = *composed;
      continue;
    }
    if (point.combining_class == 0) starter = kept;
    points[kept++] = point;
  }
  points.resize(kept);
}

// Where the character before `at` begins; `at` itself where there is none.
size_t Before(std::string_view text, size_t at) {
  for (size_t length = 1; length <= 4 && length <= at; ++length) {
    size_t found = 0;
    if (DecodeCharacter(text, at - length, found) >= 0 && found == length) {
      return at - length;
    }
  }
  return at;
}

// The first active character at or after `at`; the end when there is none.
size_t NextActive(const Tables& tables, std::string_view text, size_t at) {
  while (at < text.size()) {
    if (static_cast<uint8_t>(text[at]) < kFirstMarkByte) {
      ++at;
      continue;
    }
    size_t length = 1;
    const int32_t code = DecodeCharacter(text, at, length);
    if (code >= kFirstMark && tables.IsActive(code)) return at;
    at += length;
  }
  return text.size();
}

}  // namespace

bool IsNfc(std::string_view text) {
  if (std::none_of(text.begin(), text.end(), [](char c) {
        return static_cast<uint8_t>(c) >= kFirstMarkByte;
      })) {
    return true;
  }
  return NextActive(Tables::Get(), text, 0) == text.size();
}

std::string ToNfc(std::string_view text) {
  const Tables& tables = Tables::Get();
  std::string out;
  out.reserve(text.size());
  std::vector<Point> points;
  for (size_t at = 0; at < text.size();) {
    const size_t active = NextActive(tables, text, at);
    if (active == text.size()) {
      out.append(text.substr(at));
      break;
    }
    // It may compose with the character before it.
    const size_t begin = std::max(at, Before(text, active));
    out.append(text.substr(at, begin - at));
    points.clear();
    for (at = begin; at < text.size();) {
      size_t length = 1;
      const int32_t code = DecodeCharacter(text, at, length);
      if (code < 0 || (at > active && !tables.IsActive(code))) break;
      tables.Decompose(code, points);
      at += length;
    }
    Reorder(points);
    Recompose(tables, points);
    for (const Point& point : points) AppendCharacter(point.code, out);
  }
  return out;
}

}  // namespace skerry::data
