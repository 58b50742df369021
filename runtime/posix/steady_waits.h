// runtime/posix/steady_waits.h
//
// Keeps waits of libraries at their intended length when somebody sets the
// machine's clock.
//
// abseil 20220623, and gRPC's timers with it, wait until a moment of the wall
// clock. If the clock is set back by a day, a timer of a second fires a day
// later: no call meets its deadline and no connection is tried again. A program
// that links this file converts such waits, as they begin, to the steady clock.
// The file intercepts those libraries' calls of libc's syscall(), and changes
// nothing else.
#ifndef SKERRY_RUNTIME_POSIX_STEADY_WAITS_H_
#define SKERRY_RUNTIME_POSIX_STEADY_WAITS_H_

namespace skerry::runtime {

// Returns true if the libraries' calls reach this file's function. Linking it
// is enough, unless the program hides its symbols.
bool WaitsAreSteady();

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_STEADY_WAITS_H_
