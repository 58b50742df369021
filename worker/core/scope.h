// worker/core/scope.h
//
// Makes callbacks that do nothing once their object is gone.
#ifndef SKERRY_WORKER_CORE_SCOPE_H_
#define SKERRY_WORKER_CORE_SCOPE_H_

#include <memory>
#include <utility>

namespace skerry::worker {

// A callable from Wrap() does nothing once the scope has ended, by End() or by
// its destruction. For one thread.
class Scope {
 public:
  Scope() = default;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // Everything wrapped so far falls silent; what is wrapped later does not.
  void End() { token_ = std::make_shared<char>(); }

  template <typename F>
  auto Wrap(F callback) {
    return [alive = std::weak_ptr<char>(token_),
            callback = std::move(callback)](auto&&... arguments) mutable {
      if (!alive.expired()) {
        callback(std::forward<decltype(arguments)>(arguments)...);
      }
    };
  }

 private:
  std::shared_ptr<char> token_ = std::make_shared<char>();
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_SCOPE_H_
