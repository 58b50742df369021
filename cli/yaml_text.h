// cli/yaml_text.h
//
// The JSON that a command prints, as YAML.
#ifndef SKERRY_CLI_YAML_TEXT_H_
#define SKERRY_CLI_YAML_TEXT_H_

#include <ostream>
#include <streambuf>
#include <string>

namespace skerry::cli {

// Block style, two spaces a level, keys in the order of the JSON. Strings that
// YAML would take for something else are quoted. Requires: `json` is one valid
// JSON value; others come back as they are.
std::string YamlText(const std::string& json);

// Takes JSON objects, one after another, and writes each as a YAML document as
// soon as it is whole; "---" stands between two.
class YamlStream : public std::ostream {
 public:
  // `out` outlives the stream.
  explicit YamlStream(std::ostream& out);

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(std::ostream& out) : out_(out) {}

   private:
    int_type overflow(int_type c) override;
    int sync() override;
    void Take(char c);

    std::ostream& out_;
    std::string json_;
    int depth_ = 0;
    bool in_string_ = false;
    bool escaped_ = false;
    bool begun_ = false;
  };

  Buffer buffer_;
};

}  // namespace skerry::cli

#endif  // SKERRY_CLI_YAML_TEXT_H_
