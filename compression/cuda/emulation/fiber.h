// compression/cuda/emulation/fiber.h
//
// A function with a stack of its own that others can wait for in the middle:
// how the threads of a device take turns on one thread of the processor.
#ifndef SKERRY_COMPRESSION_CUDA_EMULATION_FIBER_H_
#define SKERRY_COMPRESSION_CUDA_EMULATION_FIBER_H_

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace skerry::compression::cuda::emulation {

// Used again and again: starting anew costs nothing. May be destroyed in the
// middle of its function, whose objects then stay as they are.
class Fiber {
 public:
  Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Requires: ended() or new. `body` lives until it has ended.
  void Start(const std::function<void()>& body);
  // Runs the body until it pauses or ends. Requires: started, not ended.
  void Resume();
  // In the body: returns when somebody resumes it.
  void Pause();
  bool ended() const { return ended_; }

 private:
  struct alignas(4096) Stack {
    std::byte bytes[size_t{1} << 16];
  };

  static void Enter();

  std::unique_ptr<Stack> stack_;
  const std::function<void()>* body_ = nullptr;
  bool ended_ = true;
  ucontext_t own_;
  ucontext_t caller_;
  // Of the stack that resumes it, for sanitizers.
  const void* caller_stack_ = nullptr;
  size_t caller_stack_size_ = 0;
};

}  // namespace skerry::compression::cuda::emulation

#endif  // SKERRY_COMPRESSION_CUDA_EMULATION_FIBER_H_
