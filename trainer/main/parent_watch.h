// trainer/main/parent_watch.h
//
// Ends a trainer when the worker that started it ends, because it is of no use
// without it.
#ifndef SKERRY_TRAINER_MAIN_PARENT_WATCH_H_
#define SKERRY_TRAINER_MAIN_PARENT_WATCH_H_

namespace skerry::trainer {

// From now on this process ends, at once and with code 1, when its parent
// process does. The kernel's death signal alone is not enough: it follows the
// thread that forked, and is lost if the parent ends before this process asks
// for it. `parent_pid` is the parent's id as the parent gave it, so that a
// parent that is already gone is noticed; with 0 it is whoever is the parent
// now. `program`, a literal, is what the last line on standard error calls this
// process.
void ExitWithParent(const char* program, int parent_pid);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_MAIN_PARENT_WATCH_H_
