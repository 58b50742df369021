#include "cli/yaml_text.h"

#include <yaml-cpp/yaml.h>

#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

TEST(YamlTextTest, ObjectsAndListsAreBlocks) {
  EXPECT_EQ(YamlText(R"({"name": "bible", "id": "3", "losses": [
              {"sequence": "1", "loss": 2.5}, {"sequence": "2"}],
              "islands": ["a", "b"], "empty": {}, "none": [], "ok": true,
              "spec": {"outer": {"method": "CO2"}}})"),
            "name: bible\n"
            "id: \"3\"\n"
            "losses:\n"
            "  - sequence: \"1\"\n"
            "    loss: 2.5\n"
            "  - sequence: \"2\"\n"
            "islands:\n"
            "  - a\n"
            "  - b\n"
            "empty: {}\n"
            "none: []\n"
            "ok: true\n"
            "spec:\n"
            "  outer:\n"
            "    method: CO2\n");
}

TEST(YamlTextTest, WhatReadsAsSomethingElseIsQuoted) {
  for (const char* text : {"true", "No", "on", "3", "0x10", "1e3", "-", "a: b",
                           "# no", "", "null", "~", "[x]", "a\\nb", "&a"}) {
    const std::string yaml =
        YamlText(std::string("{\"key\": \"") + text + "\"}");
    SCOPED_TRACE(yaml);
    const YAML::Node node = YAML::Load(yaml)["key"];
    ASSERT_TRUE(node.IsScalar());
    // yaml-cpp marks quoted scalars with "!".
    EXPECT_EQ(node.Tag(), "!");
  }
}

TEST(YamlTextTest, ListsInListsNest) {
  const YAML::Node node = YAML::Load(YamlText(R"({"a": [[1, 2], [3]]})"));
  EXPECT_EQ(node["a"][0][1].as<int>(), 2);
  EXPECT_EQ(node["a"][1][0].as<int>(), 3);
}

TEST(YamlTextTest, AStreamWritesADocumentAnObject) {
  std::ostringstream out;
  YamlStream stream(out);
  stream << "{\"name\": \"{\\\"}\"";
  EXPECT_EQ(out.str(), "");
  stream << "}\n{\"name\": \"b\"}\n" << std::flush;
  EXPECT_EQ(out.str(), "name: \"{\\\"}\"\n---\nname: b\n");
}

}  // namespace
}  // namespace skerry::cli
