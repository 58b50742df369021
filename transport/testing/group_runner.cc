#include "transport/testing/group_runner.h"

#include <thread>

namespace skerry::transport {

void RunMembers(GroupMembers& members, std::function<void(Group&)> body) {
  std::vector<std::thread> threads;
  for (const std::unique_ptr<Group>& member : members) {
    threads.emplace_back([&body, group = member.get()] { body(*group); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace skerry::transport
