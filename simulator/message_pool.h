// simulator/message_pool.h
//
// Messages that are no longer used go back to this pool, so that their parts
// are not allocated again for the next message.
#ifndef SKERRY_SIMULATOR_MESSAGE_POOL_H_
#define SKERRY_SIMULATOR_MESSAGE_POOL_H_

#include <memory>
#include <utility>
#include <vector>

namespace skerry::sim {

template <typename Message>
class MessagePool {
 public:
  // With what it last held; it may outlive the pool.
  std::shared_ptr<Message> Take() {
    if (free_->empty()) free_->push_back(std::make_unique<Message>());
    std::unique_ptr<Message> message = std::move(free_->back());
    free_->pop_back();
    return std::shared_ptr<Message>(
        message.release(), [free = free_](Message* done) {
          free->push_back(std::unique_ptr<Message>(done));
        });
  }

 private:
  using Free = std::vector<std::unique_ptr<Message>>;
  const std::shared_ptr<Free> free_ = std::make_shared<Free>();
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_MESSAGE_POOL_H_
