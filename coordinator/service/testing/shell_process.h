// coordinator/service/testing/shell_process.h
//
// A coordinator's shell on a loop and a disk that a test moves, with streams
// that remember what they were given.
#ifndef SKERRY_COORDINATOR_SERVICE_TESTING_SHELL_PROCESS_H_
#define SKERRY_COORDINATOR_SERVICE_TESTING_SHELL_PROCESS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "coordinator/service/cluster_shell.h"
#include "coordinator/service/testing/memory_journal.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::coordinator {

class FakeStream final : public OrdersStream {
 public:
  bool ready() const override { return ready_; }
  void Send(const Orders& orders) override {
    sent.push_back(orders);
    ready_ = hold_open;
    if (on_send) on_send();
  }
  void Drain() { ready_ = true; }

  std::vector<Orders> sent;
  // Takes any number of messages at once.
  bool hold_open = true;
  std::function<void()> on_send;

 private:
  bool ready_ = true;
};

class RecordingObserver final : public SettledObserver {
 public:
  void OnSettled(const Cluster& cluster, Instant, std::span<const Entry> fresh,
                 std::vector<GenerateAnswer>) override {
    for (const Entry& entry : fresh) indexes.push_back(entry.index.value());
    revision = cluster.revision();
  }
  EventHistory SaveEvents() override {
    return {{{revision, JobId(), "saved", ""}}, {}};
  }
  void OnRestored(const EventHistory& events, Instant) override {
    restored = events;
  }
  EventHistory restored;
  std::vector<uint64_t> indexes;
  Revision revision;
};

// One life of a coordinator. The disk is what it leaves behind.
class ShellProcess {
 public:
  explicit ShellProcess(MemoryDisk& disk,
                        absl::Duration lease = absl::Seconds(10),
                        const CompactionRule& rule = {},
                        bool disk_hangs = false)
      : journal(disk, loop, [this](absl::Status why) { failure = why; }),
        shell(Options(lease), loop, journal, rule) {
    if (disk_hangs) journal.Hold();
    shell.set_observer(&observer);
    recovered = shell.Recover();
    loop.RunUntilIdle();
  }
  static ClusterOptions Options(absl::Duration lease) {
    ClusterOptions options;
    options.lease = lease;
    return options;
  }

  // The worker reports; the answer, when it comes, goes to `answers`.
  void Report(const std::string& worker, uint64_t boot, uint64_t incarnation,
              uint64_t counter) {
    StatusFacts facts;
    facts.release = "0.1.0";
    facts.self.worker = worker;
    facts.self.address = "127.0.0.1:1";
    facts.island = "north";
    facts.boot = Boot(boot);
    facts.folder = FolderId(1);
    facts.incarnation = Incarnation(incarnation);
    facts.counter = counter;
    shell.Do(
        [this, facts](Cluster& cluster, Instant now) -> ClusterShell::Settled {
          return [this, taken = cluster.OnStatus(facts, now)](
                     const Cluster&, Instant) { answers.push_back(taken); };
        });
  }
  uint64_t StateHash() {
    uint64_t hash = 0;
    shell.Look(
        [&](const Cluster& cluster, Instant) { hash = cluster.StateHash(); });
    loop.RunUntilIdle();
    return hash;
  }

  runtime::ManualLoop loop;
  absl::Status failure;
  MemoryJournal journal;
  RecordingObserver observer;
  ClusterShell shell;
  absl::Status recovered;
  std::vector<absl::Status> answers;
};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_TESTING_SHELL_PROCESS_H_
