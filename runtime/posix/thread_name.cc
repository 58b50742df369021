#include "runtime/posix/thread_name.h"

#include <pthread.h>

namespace skerry::runtime {

void NameThisThread(const std::string& name) {
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
}

}  // namespace skerry::runtime
