// How many mutations a coordinator makes durable a second, how long each waits,
// and how soon a restarted one serves: the real shell, core and journal on a
// real disk, without the network. A mutation is the admission of a worker, the
// smallest that there is; what a restart reads is the history of a job, with
// all that a snapshot keeps of it.
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "base/check.h"
#include "bench/micro/bench_rows.h"
#include "bench/micro/bench_setup.h"
#include "coordinator/service/cluster_shell.h"
#include "coordinator/service/journal_codec.h"
#include "coordinator/service/journal_file.h"
#include "coordinator/service/sqlite_journal.h"
#include "job/job_spec.h"
#include "job/review.h"
#include "job/testing/specs.h"
#include "runtime/posix/posix_executor.h"
#include "runtime/posix/posix_loop.h"

namespace skerry::bench {
namespace {

using coordinator::Cluster;
using coordinator::ClusterOptions;
using coordinator::ClusterShell;
using coordinator::CompactionRule;
using coordinator::SqliteJournal;
using protocol::StatusFacts;

// From the requirements on durable state: mutations a second, seconds at the
// 99th percentile, seconds from start to serving with 10,000 records.
constexpr double kMutationsPerSecond = 5000;
constexpr double kWaitP99S = 0.025;
constexpr double kRestartS = 2;

double Now() {
  const std::chrono::duration<double> since =
      std::chrono::steady_clock::now().time_since_epoch();
  return since.count();
}

StatusFacts WorkerNumber(uint64_t number) {
  StatusFacts facts;
  facts.release = "0.1.0";
  facts.self.worker = absl::StrCat("worker-", number);
  facts.self.address = "127.0.0.1:1";
  facts.island = "north";
  facts.boot = Boot(number + 1);
  facts.counter = 1;
  return facts;
}

// A coordinator without a port.
class Coordinator {
 public:
  Coordinator(const std::string& folder, uint64_t workers_max,
              const CompactionRule& rule = {})
      : loop_("coordinator") {
    auto journal =
        SqliteJournal::Open(folder, 0, disk_, loop_, [](absl::Status why) {
          std::fprintf(stderr, "journal_bench: %s\n", why.ToString().c_str());
          std::abort();
        });
    SKERRY_CHECK(journal.ok());
    journal_ = *std::move(journal);
    ClusterOptions options;
    options.workers_max = workers_max;
    shell_ = std::make_unique<ClusterShell>(options, loop_, *journal_, rule);
    absl::Notification recovered;
    loop_.Post([&] {
      SKERRY_CHECK(shell_->Recover().ok());
      shell_->WhenIdle([&] { recovered.Notify(); });
    });
    recovered.WaitForNotification();
  }
  ~Coordinator() {
    absl::Notification idle;
    loop_.Post([&] { shell_->WhenIdle([&] { idle.Notify(); }); });
    idle.WaitForNotification();
    loop_.Stop();
  }

  // Admits `count` workers, `window` of them waiting at any time; returns how
  // long each waited, in seconds.
  std::vector<double> Admit(uint64_t count, uint64_t window) {
    waits_.clear();
    next_ = 0;
    count_ = count;
    absl::Notification done;
    done_ = &done;
    loop_.Post([this, window] {
      for (uint64_t i = 0; i < window; ++i) Next();
    });
    done.WaitForNotification();
    return std::move(waits_);
  }

 private:
  void Next() {
    if (next_ == count_) return;
    shell_->Do([this, facts = WorkerNumber(next_++), begun = Now()](
                   Cluster& cluster, Instant now) -> ClusterShell::Settled {
      SKERRY_CHECK(cluster.OnStatus(facts, now).ok());
      return [this, begun](const Cluster&, Instant) {
        waits_.push_back(Now() - begun);
        if (waits_.size() == count_) {
          done_->Notify();
        } else {
          Next();
        }
      };
    });
  }

  runtime::PosixLoop loop_;
  // Outlives the writes that `disk_` still has when it goes.
  std::unique_ptr<SqliteJournal> journal_;
  runtime::PosixExecutor disk_{"journal", 1};
  std::unique_ptr<ClusterShell> shell_;
  // On the loop.
  std::vector<double> waits_;
  uint64_t next_ = 0;
  uint64_t count_ = 0;
  absl::Notification* done_ = nullptr;
};

double Percentile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share *
                                    static_cast<double>(values.size() - 1))];
}

// What the disk itself does: 4 KiB appended and synced, one after the other. A
// batch of the journal is one such sync.
void MeasureDisk(const std::string& path, BenchRows& rows) {
  constexpr int kAppends = 200;
  const std::vector<char> page(4096, 'x');
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  SKERRY_CHECK(fd >= 0);
  const double begun = Now();
  for (int i = 0; i < kAppends; ++i) {
    SKERRY_CHECK(write(fd, page.data(), page.size()) == 4096);
    SKERRY_CHECK(fdatasync(fd) == 0);
  }
  rows.AddContext("disk_appends_synced", kAppends / (Now() - begun), "items/s");
  close(fd);
}

void MeasureMutations(const std::string& folder, uint64_t count,
                      uint64_t window, BenchRows& rows) {
  Coordinator coordinator(folder, count);
  const double begun = Now();
  const std::vector<double> waits = coordinator.Admit(count, window);
  const double taken = Now() - begun;
  const std::string at = absl::StrCat("/window:", window);
  rows.Add("durable_mutations" + at, static_cast<double>(count) / taken,
           "items/s", kMutationsPerSecond, true);
  rows.Add("durable_mutation_wait_p99" + at, Percentile(waits, 0.99), "s",
           kWaitP99S, false);
  // Snapshots of the journal are made meanwhile, and those who wait for one
  // wait longest.
  rows.AddContext("durable_mutation_wait_max" + at, Percentile(waits, 1), "s");
}

// The records of a job of two islands in the steady state: two grants, an
// attempt and a commit a round, 64 spans.
class JobHistory {
 public:
  std::vector<coordinator::Record> Begin() {
    const auto reviewed = job::ReviewJobSpec(job::SmallJob("bench", 1 << 30));
    SKERRY_CHECK(reviewed.ok());
    job::JobSpec spec = reviewed->spec;
    spec.exchange.spans = kSpans;
    std::vector<coordinator::Record> records = {
        coordinator::JobSubmitted{spec, "key"}};
    for (uint64_t island = 0; island < 2; ++island) {
      records.push_back(coordinator::WorkerAdmitted{
          Peer(island), Boot(island + 1), Island(island), "0.1.0"});
    }
    records.push_back(coordinator::JobSized{JobId(1), 1 << 24, 1 << 20, 1e9});
    for (uint64_t island = 0; island < 2; ++island) {
      records.push_back(
          coordinator::ReplicaAdmitted{JobId(1),
                                       ReplicaId(island + 1),
                                       Island(island),
                                       {Holder(island)},
                                       {Incarnation(island + 2)}});
    }
    return records;
  }
  // Indexes start at `next`.
  std::vector<coordinator::Record> Round(uint64_t next) {
    std::vector<coordinator::Record> records;
    coordinator::Opened opened;
    opened.job = JobId(1);
    opened.sequence = Sequence(++round_);
    opened.owners.assign(kSpans, 0);
    opened.total_weight = 192;
    opened.reason = "every replica is ready";
    for (uint64_t island = 0; island < 2; ++island) {
      const data::SampleRange range{sample_, sample_ + 96};
      sample_ += 96;
      const Life life(5 + island);
      records.push_back(coordinator::Granted{JobId(1), life, {range}});
      opened.members.push_back({ReplicaId(island + 1),
                                life,
                                {skerry::Round(round_),
                                 Sequence(round_ - 1),
                                 96,
                                 data::RangeSet(range),
                                 {}},
                                {Holder(island)},
                                compression::CodecId::kInt8Block});
    }
    records.push_back(opened);
    coordinator::Committed commit;
    commit.job = JobId(1);
    commit.sequence = Sequence(round_);
    commit.attempt = Attempt(next + 2);
    commit.hashes.assign(kSpans, ~round_);
    commit.total_weight = 192;
    commit.scalars = {2.5, 12, 1.5, 0.25};
    records.push_back(commit);
    return records;
  }

 private:
  static constexpr uint32_t kSpans = 64;
  static std::string Island(uint64_t island) {
    return absl::StrCat("island-", island);
  }
  static protocol::PeerAddress Peer(uint64_t island) {
    return {absl::StrCat("worker-", island), "127.0.0.1:1", ""};
  }
  static protocol::SpanHolder Holder(uint64_t island) {
    return {0, kSpans, Peer(island), 0};
  }
  uint64_t round_ = 0;
  uint64_t sample_ = 0;
};

// A state folder with `count` records of a job, or a few more.
void WriteHistory(const std::string& folder, uint64_t count) {
  std::filesystem::create_directory(folder);
  auto file = coordinator::JournalFile::Open(
      folder + "/journal.db", coordinator::JournalFile::Use::kServe);
  SKERRY_CHECK(file.ok());
  std::vector<coordinator::JournalEntry> batch;
  const auto add = [&](const std::vector<coordinator::Record>& records) {
    for (const coordinator::Record& record : records) {
      batch.push_back(
          coordinator::EntryToJournal({Revision(batch.size() + 1), record}));
    }
  };
  JobHistory history;
  add(history.Begin());
  while (batch.size() < count) add(history.Round(batch.size() + 1));
  SKERRY_CHECK((*file)->Append(batch).ok());
}

void MeasureStart(const std::string& folder, const std::string& name,
                  BenchRows& rows) {
  const CompactionRule never{.records_min = ~size_t{0}};
  std::vector<double> taken;
  for (int turn = 0; turn < 5; ++turn) {
    const double begun = Now();
    const Coordinator coordinator(folder, 10, never);
    taken.push_back(Now() - begun);
  }
  rows.Add(name, Percentile(taken, 0.5), "s", kRestartS, false);
}

void MeasureRestart(const std::string& folder, uint64_t records,
                    BenchRows& rows) {
  WriteHistory(folder, records);
  MeasureStart(folder, absl::StrCat("restart/records:", records), rows);
  // Serving from it for a moment compacts it.
  { Coordinator(folder, 10, CompactionRule{.records_min = 1}); }
  MeasureStart(folder, absl::StrCat("restart/snapshot_of:", records), rows);
}

int Main(int argc, char** argv) {
  const auto flags = ReadBenchFlags(argc, argv, "journal_bench");
  if (!flags.has_value()) return 2;
  const uint64_t count = flags->quick ? 10'000 : 100'000;
  BenchRows rows(flags->json);
  const BenchFolder folder("journal_bench");
  const std::string& root = folder.path();
  MeasureDisk(root + "/disk", rows);
  MeasureMutations(root + "/narrow", count / 10, 16, rows);
  MeasureMutations(root + "/wide", count, 256, rows);
  MeasureRestart(root + "/restart", 10'000, rows);
  MeasureRestart(root + "/long", 100'000, rows);
  return 0;
}

}  // namespace
}  // namespace skerry::bench

int main(int argc, char** argv) { return skerry::bench::Main(argc, argv); }
