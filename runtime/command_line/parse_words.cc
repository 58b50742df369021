#include "runtime/command_line/parse_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/command_line/empty_value.h"
#include "runtime/command_line/sorted_help.h"

namespace skerry::runtime {

EndedLine WrongLine(const CLI::App& app, std::string_view what) {
  std::string line(what);
  std::replace(line.begin(), line.end(), '\n', ' ');
  return {.text = absl::StrCat(app.get_name(), ": ", line, " (see ",
                               app.get_name(), " --help)\n"),
          .exit_code = kUsageExit};
}

std::optional<EndedLine> ParseWords(CLI::App& app,
                                    std::vector<std::string> words) {
  // CLI11 takes the words from the back, and speaks in exceptions; they end
  // here.
  std::reverse(words.begin(), words.end());
  SortHelp(app);
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return EndedLine{.text = app.help()};
  } catch (const CLI::CallForVersion& version) {
    return EndedLine{.text = absl::StrCat(version.what(), "\n")};
  } catch (const CLI::ParseError& error) {
    return WrongLine(app, error.what());
  }
  const std::string empty = ExplainEmptyValue(app);
  if (!empty.empty()) return WrongLine(app, empty);
  return std::nullopt;
}

int PrintEnded(const EndedLine& ended) {
  std::FILE* const stream = ended.exit_code == 0 ? stdout : stderr;
  std::fputs(ended.text.c_str(), stream);
  std::fflush(stream);
  return ended.exit_code;
}

std::optional<int> ParseOrPrint(CLI::App& app, int argc, char** argv) {
  const std::optional<EndedLine> ended =
      ParseWords(app, {argv + 1, argv + argc});
  if (!ended.has_value()) return std::nullopt;
  return PrintEnded(*ended);
}

}  // namespace skerry::runtime
