// runtime/command_line/parse_words.h
//
// Parses a command line, and ends the program if the line asks for help or is
// wrong. A wrong line gives one line of text and exit code 2.
#ifndef SKERRY_RUNTIME_COMMAND_LINE_PARSE_WORDS_H_
#define SKERRY_RUNTIME_COMMAND_LINE_PARSE_WORDS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace skerry::runtime {

// The exit code of every program whose command line is wrong.
inline constexpr int kUsageExit = 2;

// There is nothing to run.
struct EndedLine {
  // Help or the version, or one line with the program's name in front.
  std::string text;
  // 0 or kUsageExit.
  int exit_code = 0;
};

// Returns the line that tells the user that `what` is wrong. `app` is named
// like its program. Line feeds in `what` become spaces.
EndedLine WrongLine(const CLI::App& app, std::string_view what);

// Reads `words`, without the program's name, into the variables of `app`.
// Returns nothing when the program should run. No value may be empty.
std::optional<EndedLine> ParseWords(CLI::App& app,
                                    std::vector<std::string> words);

// Prints help to standard output and errors to standard error; returns the exit
// code.
int PrintEnded(const EndedLine& ended);

// For a main that keeps no more of it: returns the exit code, or nothing when
// the program should run.
std::optional<int> ParseOrPrint(CLI::App& app, int argc, char** argv);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_COMMAND_LINE_PARSE_WORDS_H_
