// Makes the golden files again where the sentencepiece package is installed.
// SKERRY_PYTHON names the interpreter that has it; python3 when unset.
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace skerry::data {
namespace {

int ExitCode(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SentencePieceGoldenFilesTest, AreWhatThePackageMakes) {
  const char* named = std::getenv("SKERRY_PYTHON");
  const std::string python = named != nullptr ? named : "python3";
  if (ExitCode(python + " -c 'import sentencepiece' 2>/dev/null") != 0) {
    GTEST_SKIP() << python << " cannot import sentencepiece";
  }
  EXPECT_EQ(ExitCode(python + " -B tools/gen/sentencepiece_golden.py --check "
                              "data/sentencepiece/testdata"),
            0);
}

}  // namespace
}  // namespace skerry::data
