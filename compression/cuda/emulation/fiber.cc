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

// The fibers that the last switch left and entered.
Fiber* left = nullptr;
Fiber* entered = nullptr;

}  // namespace

Fiber::Fiber(const std::function<void()>& body)
    : stack_(std::make_unique_for_overwrite<Stack>()), body_(&body) {
  SKERRY_CHECK(getcontext(&own_) == 0);
  own_.uc_stack.ss_sp = stack_->bytes;
  own_.uc_stack.ss_size = sizeof(stack_->bytes);
  own_.uc_link = nullptr;
  makecontext(&own_, &Fiber::Enter, 0);
  bottom_ = stack_->bytes;
  size_ = sizeof(stack_->bytes);
}

void Fiber::Enter() {
  Fiber* const self = entered;
  self->Arrive(nullptr);
  (*self->body_)();
  SKERRY_CHECK(false);  // it returned
}

void Fiber::SwitchTo(Fiber& next) {
  left = this;
  entered = &next;
  void* fake = nullptr;
#ifdef SKERRY_FIBER_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&fake, next.bottom_, next.size_);
#endif
  SKERRY_CHECK(swapcontext(&own_, &next.own_) == 0);
  Arrive(fake);
}

void Fiber::Arrive([[maybe_unused]] void* fake) {
#ifdef SKERRY_FIBER_ADDRESS_SANITIZER
  // Notes the stack of the fiber that was left. A fiber without a function does
  // not know its own.
  __sanitizer_finish_switch_fiber(fake, &left->bottom_, &left->size_);
#endif
}

}  // namespace skerry::compression::cuda::emulation
