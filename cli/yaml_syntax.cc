#include "cli/yaml_syntax.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace skerry::cli {
namespace {

// Deeper than any file of ours, and than the parser goes.
constexpr int kDepthMax = 64;

// What the parser says, and what a person should hear.
constexpr std::pair<std::string_view, const char*> kMeanings[] = {
    {"illegal map value",
     "a value begins where none can; is this line indented as its neighbours "
     "are, and is a text with a colon in quotes?"},
    {"end of map not found",
     "the indentation of this line fits no line above it"},
    {"end of map flow not found", "a { is not closed by a }"},
    {"end of sequence not found",
     "the indentation of this line fits no line above it"},
    {"end of sequence flow not found", "a [ is not closed by a ]"},
    {"illegal block entry",
     "a list begins where none can; put each \"- \" on a line of its own"},
    {"bad file", "this is no text file"},
};

YamlProblem At(std::string_view text, size_t position, std::string what) {
  const std::string_view before = text.substr(0, position);
  const size_t feed = before.rfind('\n');
  return {.line = 1 + static_cast<int>(
                          std::count(before.begin(), before.end(), '\n')),
          .column = static_cast<int>(
              feed == std::string_view::npos ? position + 1 : position - feed),
          .what = std::move(what)};
}

bool IsControl(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' &&
          c != '\t') ||
         c == 0x7f;
}

// The first mistake that can be seen without a parser.
std::optional<YamlProblem> Plain(std::string_view text) {
  bool indents = true;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (IsControl(c)) {
      return At(text, i,
                absl::StrCat("a byte of value ",
                             static_cast<int>(static_cast<unsigned char>(c)),
                             ", which no text has; is it a text file?"));
    }
    if (c == '\n') {
      indents = true;
    } else if (c == '\t' && indents) {
      return At(text, i, "a tab indents this line; YAML takes spaces only");
    } else if (c != ' ') {
      indents = false;
    }
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth > kDepthMax) {
      return At(text, i,
                absl::StrCat("nested more than ", kDepthMax, " levels deep"));
    }
  }
  return std::nullopt;
}

}  // namespace

YamlProblem ExplainYaml(std::string_view text, int line, int column,
                        std::string_view parser_words) {
  if (std::optional<YamlProblem> plain = Plain(text)) return *std::move(plain);
  YamlProblem problem{line, column, std::string(parser_words)};
  for (const auto& [words, meaning] : kMeanings) {
    if (parser_words == words) problem.what = meaning;
  }
  if (parser_words.starts_with("unknown escape character")) {
    problem.what = absl::StrCat(
        std::string(parser_words),
        "; in double quotes a backslash is written \\\\, in single quotes as "
        "it is");
  }
  return problem;
}

}  // namespace skerry::cli
