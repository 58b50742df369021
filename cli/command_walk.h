// cli/command_walk.h
//
// Walks along a half-typed command line: it finds which command it has reached,
// which word is wrong, and what may come next.
#ifndef SKERRY_CLI_COMMAND_WALK_H_
#define SKERRY_CLI_COMMAND_WALK_H_

#include <cstddef>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace skerry::cli {

// Names that only the cluster, the disk or the schema know.
enum class Names { kNone, kJobs, kWorkers, kContexts, kFields, kFiles };

struct Completion {
  // The words that begin like the last word.
  std::vector<std::string> words;
  // To be looked up as well.
  Names names = Names::kNone;
  // The last word: what names have to begin with.
  std::string prefix;
  // The coordinator that the line names; empty when it names none.
  std::string coordinator;
  std::string context;
};

// What can stand in the place of the last of `words`, which may be empty.
Completion CompleteLine(const CLI::App& root,
                        const std::vector<std::string>& words);

// Returns the name of one of `kind` that the line gives to the command `leaf`;
// empty when it gives none.
std::string NameGiven(const CLI::App& leaf, Names kind);

// Explains the first word that is no command or option in its place, with the
// nearest known one or the words that may stand there. Or says which command is
// missing after the last word. Empty when nothing is wrong.
std::string ExplainWrongCommand(const CLI::App& root,
                                const std::vector<std::string>& words);

// The innermost command that `words` name, as it is typed: "skerryctl data
// prepare".
std::string TypedCommand(const CLI::App& root,
                         const std::vector<std::string>& words);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_COMMAND_WALK_H_
