// Linked into targets that parse messages: protobuf would write a line for
// every input that is not UTF-8.
#include <google/protobuf/stubs/logging.h>

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  google::protobuf::SetLogHandler(nullptr);
  return 0;
}
