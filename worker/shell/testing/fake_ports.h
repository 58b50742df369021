// worker/shell/testing/fake_ports.h
//
// Ports of a worker's shell that a test moves by hand.
#ifndef SKERRY_WORKER_SHELL_TESTING_FAKE_PORTS_H_
#define SKERRY_WORKER_SHELL_TESTING_FAKE_PORTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "protocol/heard_orders.h"
#include "protocol/status_facts.h"
#include "worker/shell/session.h"
#include "worker/shell/worker_shell.h"

namespace skerry::worker {

class FakeSessionPort final : public SessionPort {
 public:
  void Open(Events& events) override {
    events_ = &events;
    ++opened;
  }
  void Write(const protocol::StatusFacts& status) override {
    written.push_back(status);
  }
  void Cancel() override { ++cancelled; }
  bool IsConnected() override { return connected; }

  bool is_open() const { return events_ != nullptr; }
  void Say(protocol::HeardOrders orders) {
    events_->OnOrders(std::move(orders));
  }
  void Say(protocol::Orders orders) { Say({std::move(orders), {}}); }
  void Written() { events_->OnWritten(); }
  void End(absl::Status status) {
    std::exchange(events_, nullptr)->OnEnd(std::move(status));
  }

  bool connected = true;
  int opened = 0;
  int cancelled = 0;
  std::vector<protocol::StatusFacts> written;

 private:
  Events* events_ = nullptr;  // null while there is no stream
};

class FakeFoldersPort final : public FoldersPort {
 public:
  void List(Listed done) override { listed = std::move(done); }
  void MarkEnded(const StoredJobKey& folder, int64_t unix_ms) override {
    marked.push_back({folder, 0, unix_ms});
  }
  void Remove(const StoredJobKey& folder, Removed done) override {
    removals.emplace_back(folder, std::move(done));
  }

  Listed listed;
  std::vector<StoredJob> marked;
  std::vector<std::pair<StoredJobKey, Removed>> removals;
};

class FakeMachine final : public MachinePort {
 public:
  void OnOrders(const protocol::Orders&) override { said += "orders "; }
  void OnJobsTakenUp(const protocol::Orders&) override { said += "jobs "; }
  void AddFacts(protocol::StatusFacts& facts) const override {
    facts.fetches_data = true;
  }
  std::string said;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_TESTING_FAKE_PORTS_H_
