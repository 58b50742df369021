// compression/cuda/emulation/fiber.h
//
// A fiber is a function with a stack of its own, which can wait for others in
// the middle. So the threads of a device take turns on one thread of the
// processor.
#ifndef SKERRY_COMPRESSION_CUDA_EMULATION_FIBER_H_
#define SKERRY_COMPRESSION_CUDA_EMULATION_FIBER_H_

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace skerry::compression::cuda::emulation {

// One may be destroyed in the middle of its function, whose objects then stay
// as they are.
class Fiber {
 public:
  // What runs already, without a function.
  Fiber() = default;
  // Has not run yet. `body` never returns, and lives as long as this.
  explicit Fiber(const std::function<void()>& body);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Requires: this one runs. Returns when another switches to it.
  void SwitchTo(Fiber& next);

 private:
  struct alignas(4096) Stack {
    std::byte bytes[size_t{1} << 16];
  };

  static void Enter();
  void Arrive(void* fake);

  std::unique_ptr<Stack> stack_;
  const std::function<void()>* body_ = nullptr;
  ucontext_t own_;
  // For sanitizers.
  const void* bottom_ = nullptr;
  size_t size_ = 0;
};

}  // namespace skerry::compression::cuda::emulation

#endif  // SKERRY_COMPRESSION_CUDA_EMULATION_FIBER_H_
