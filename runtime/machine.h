// runtime/machine.h
//
// Defines how a daemon looks at the machine that it runs on.
#ifndef SKERRY_RUNTIME_MACHINE_H_
#define SKERRY_RUNTIME_MACHINE_H_

#include <functional>

#include "protocol/machine_facts.h"

namespace skerry::runtime {

// Any thread may call it. Empty where nobody looks.
using LookAtMachine = std::function<protocol::MachineFacts()>;

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_MACHINE_H_
