#include "compression/cuda/emulation/fiber.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SKERRY_FIBER_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SKERRY_FIBER_ADDRESS_SANITIZER 1
#endif
#ifdef SKERRY_FIBER_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

#include "base/check.h"

namespace skerry::compression::cuda::emulation {
namespace {

// The one that was resumed last.
Fiber* resumed = nullptr;

#ifdef SKERRY_FIBER_ADDRESS_SANITIZER
void LeaveFor(void** fake, const void* stack, size_t size) {
  __sanitizer_start_switch_fiber(fake, stack, size);
}
void Arrive(void* fake, const void** from, size_t* size) {
  __sanitizer_finish_switch_fiber(fake, from, size);
}
#else
void LeaveFor(void**, const void*, size_t) {}
void Arrive(void*, const void**, size_t*) {}
#endif

}  // namespace

Fiber::Fiber() : stack_(std::make_unique_for_overwrite<Stack>()) {
  SKERRY_CHECK(getcontext(&own_) == 0);
  own_.uc_stack.ss_sp = stack_->bytes;
  own_.uc_stack.ss_size = sizeof(stack_->bytes);
  own_.uc_link = nullptr;
  makecontext(&own_, &Fiber::Enter, 0);
}

void Fiber::Enter() {
  Fiber* const self = resumed;
  Arrive(nullptr, &self->caller_stack_, &self->caller_stack_size_);
  while (true) {
    (*self->body_)();
    self->ended_ = true;
    self->Pause();
  }
}

void Fiber::Start(const std::function<void()>& body) {
  SKERRY_CHECK(ended_);
  body_ = &body;
  ended_ = false;
}

void Fiber::Resume() {
  SKERRY_CHECK(!ended_);
  resumed = this;
  void* fake = nullptr;
  LeaveFor(&fake, stack_->bytes, sizeof(stack_->bytes));
  SKERRY_CHECK(swapcontext(&caller_, &own_) == 0);
  Arrive(fake, nullptr, nullptr);
}

void Fiber::Pause() {
  void* fake = nullptr;
  LeaveFor(&fake, caller_stack_, caller_stack_size_);
  SKERRY_CHECK(swapcontext(&own_, &caller_) == 0);
  Arrive(fake, &caller_stack_, &caller_stack_size_);
}

}  // namespace skerry::compression::cuda::emulation
