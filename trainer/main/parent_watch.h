// trainer/main/parent_watch.h
//
// Ends a trainer when the worker that started it ends, because it is of no use
// without it.
#ifndef SKERRY_TRAINER_MAIN_PARENT_WATCH_H_
#define SKERRY_TRAINER_MAIN_PARENT_WATCH_H_

namespace skerry::trainer {

// From now on this process ends, at once and with code 1, when its parent
// process does. The kernel's death signal alone would not do: it follows the
// thread that forked, and is lost when the parent ends before it is asked for;
// a parent that is gone already is noticed by `parent_pid`, its id as the
// parent gave it, or 0 to take whoever is the parent now.
void ExitWithParent(int parent_pid);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_MAIN_PARENT_WATCH_H_
