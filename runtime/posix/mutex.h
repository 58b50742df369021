// runtime/posix/mutex.h
//
// Mutexes whose use clang checks: -Wthread-safety refuses a member that is
// touched without the mutex that guards it (absl/base/thread_annotations.h).
//
// They are the standard library's, which waits by the steady clock.
// Debian 12's absl::Mutex waits by the wall clock (steady_waits.h) and takes 39
// ns for a lock instead of 4. It is also compiled without NDEBUG, so it ends a
// process that ever locks two mutexes in both orders.
#ifndef SKERRY_RUNTIME_POSIX_MUTEX_H_
#define SKERRY_RUNTIME_POSIX_MUTEX_H_

#include <condition_variable>
#include <mutex>

#include "absl/base/thread_annotations.h"
#include "base/instant.h"

namespace skerry::runtime {

// Locked by a MutexLock. It may be destroyed once its last holder has begun to
// unlock it.
class ABSL_LOCKABLE Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

 private:
  friend class CondVar;
  friend class MutexLock;

  std::mutex mutex_;
};

// Holds a mutex from here to the end of the block.
class ABSL_SCOPED_LOCKABLE MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ABSL_EXCLUSIVE_LOCK_FUNCTION(mutex)
      : lock_(mutex.mutex_) {}
  ~MutexLock() ABSL_UNLOCK_FUNCTION() {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  // For blocks that let go of it and take it again.
  void Unlock() ABSL_UNLOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    lock_.unlock();
  }
  void Lock() ABSL_EXCLUSIVE_LOCK_FUNCTION() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    lock_.lock();
  }

 private:
  std::unique_lock<std::mutex> lock_;
};

// Lets threads wait until others have changed what a mutex guards. A wait may
// end without a reason, so it stands in a loop that looks at what it waits for.
class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Lets go of the mutex while it waits.
  void Wait(Mutex& mutex) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);
  // Returns false if it was `when`, by MonotonicNow(), before anybody notified.
  bool WaitUntil(Mutex& mutex, Instant when)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex);

  void NotifyOne() { changed_.notify_one(); }
  void NotifyAll() { changed_.notify_all(); }

 private:
  std::condition_variable changed_;
};

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_MUTEX_H_
