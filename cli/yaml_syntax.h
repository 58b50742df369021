// cli/yaml_syntax.h
//
// Explains to a user why a text is no YAML.
#ifndef SKERRY_CLI_YAML_SYNTAX_H_
#define SKERRY_CLI_YAML_SYNTAX_H_

#include <string>
#include <string_view>

namespace skerry::cli {

// Where and what; lines and columns count from 1.
struct YamlProblem {
  int line = 0;
  int column = 0;
  std::string what;
};

// Explains an error that the parser found in `text` at `line` and `column` and
// described as `parser_words`. A mistake that the parser names badly or finds
// too late, like a tab in the indentation, is named where it was made.
YamlProblem ExplainYaml(std::string_view text, int line, int column,
                        std::string_view parser_words);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_YAML_SYNTAX_H_
