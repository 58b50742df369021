// Computes the golden values again where PyTorch is installed. SKERRY_PYTHON
// names the interpreter that has it; python3 when unset.
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace skerry::model {
namespace {

int ExitCode(const std::string& command) {
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(GoldenFilesTest, AreWhatPyTorchComputes) {
  const char* named = std::getenv("SKERRY_PYTHON");
  const std::string python = named != nullptr ? named : "python3";
  if (ExitCode(python + " -c 'import torch' 2>/dev/null") != 0) {
    GTEST_SKIP() << python << " cannot import torch";
  }
  for (const char* made : {"gpt2_golden.py --check model/exec/testdata",
                           "llama_golden.py --check model/exec/testdata",
                           "training_curve.py --check trainer/core/testdata"}) {
    EXPECT_EQ(ExitCode(python + " -B tools/gen/" + made), 0) << made;
  }
}

}  // namespace
}  // namespace skerry::model
