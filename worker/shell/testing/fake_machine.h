// worker/shell/testing/fake_machine.h
//
// A machine under a job's shell that does what a test says: it records what is
// asked of it, and answers when the test tells it to.
#ifndef SKERRY_WORKER_SHELL_TESTING_FAKE_MACHINE_H_
#define SKERRY_WORKER_SHELL_TESTING_FAKE_MACHINE_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/testing/inline_executor.h"
#include "runtime/testing/manual_loop.h"
#include "transport/bulk.h"
#include "transport/directory.h"
#include "worker/daemon/seat_answers.h"
#include "worker/shell/job_machine.h"
#include "worker/shell/job_ports.h"

namespace skerry::worker {

// Other workers give every piece that is asked of them.
class GivingBulk final : public transport::BulkTransport {
 public:
  explicit GivingBulk(runtime::EventLoop& loop) : loop_(loop) {}
  void Send(const std::string&, transport::Frame, transport::TrafficClass,
            SendDone) override {}
  void ForgetBefore(uint64_t, uint32_t, uint64_t) override {}
  void Reoffer(uint64_t, uint32_t) override {}
  void Fetch(const std::string&, const protocol::PieceKey&,
             FetchDone done) override {
    loop_.Post(
        [done = std::move(done)]() mutable { std::move(done)(SharedBytes()); });
  }
  transport::BulkCounters counters() const override { return {}; }
  absl::btree_map<std::string, transport::LinkEstimate> links() const override {
    return {};
  }
  std::vector<std::string> unreached() const override { return {}; }

 private:
  runtime::EventLoop& loop_;
};

// The state of the ports of one job, as the newest shell has made them.
struct FakeMachine {
  struct Write {
    StoredFile file;
    Done<absl::Status> done;
  };
  using BaseRead = absl::AnyInvocable<void(absl::StatusOr<StartingBase>) &&>;
  using Told = absl::AnyInvocable<void(absl::Status) &&>;

  JobMachine Machine();

  runtime::ManualLoop loop;
  runtime::InlineExecutor compute;
  GivingBulk bulk{loop};
  transport::Directory directory;
  JobTimes times;

  JobListener* listener = nullptr;
  const SeatAnswers* answers = nullptr;
  int shells = 0;  // made so far
  int sleeps = 0;

  // --- The folder.
  absl::Status scan;
  std::vector<StoredFile> on_disk;
  std::deque<Write> writes;  // not answered yet
  // Answers the oldest.
  void Written(absl::Status status) {
    Write one = std::move(writes.front());
    writes.pop_front();
    if (status.ok()) on_disk.push_back(one.file);
    answers->Wrap(std::move(one.done))(std::move(status));
  }

  // --- The trainer.
  std::vector<TrainerStart> starts;
  bool runs = false;
  std::vector<absl::Status> fails;  // Fail() was called with
  // What it answers when it is asked; nothing: it does not answer.
  std::optional<TrainerProgress> progress = TrainerProgress();
  void TrainerReady(uint64_t elements) {
    listener->OnTrainerReady({.description = {.element_count = elements}});
  }

  // --- Checkpoints.
  std::deque<BaseRead> reads;  // not answered yet, likewise
  std::deque<std::pair<StateToSave, StateSaver::Written>> saves;
  std::deque<Told> checks;
  // Answers the oldest read.
  void Read(absl::StatusOr<StartingBase> base) {
    BaseRead one = std::move(reads.front());
    reads.pop_front();
    std::move(one)(std::move(base));
  }

  // --- The inner state.
  bool inner_busy = false;
  absl::StatusOr<SharedBytes> inner = absl::NotFoundError("there is none");

  // --- Data.
  bool has_data = true;
};

class FakeFolder final : public FolderPort {
 public:
  explicit FakeFolder(FakeMachine& all) : all_(all) {}
  absl::StatusOr<std::vector<StoredFile>> Scan() override {
    if (!all_.scan.ok()) return all_.scan;
    return all_.on_disk;
  }
  void Store(const StoredFile& file, std::vector<SharedBytes>,
             Done<absl::Status> done) override {
    all_.writes.push_back({file, std::move(done)});
  }
  absl::StatusOr<SharedBytes> Map(const StoredFile&, uint32_t) override {
    return absl::NotFoundError("no file has contents");
  }
  void Delete(const StoredFile&) override {}

 private:
  FakeMachine& all_;
};

class FakeProcess final : public ProcessPort {
 public:
  explicit FakeProcess(FakeMachine& all) : all_(all) {}
  ~FakeProcess() override { all_.runs = false; }

  void Start(const TrainerStart& start) override {
    all_.starts.push_back(start);
    all_.runs = true;
  }
  void Ask(absl::AnyInvocable<void(absl::StatusOr<TrainerProgress>) &&> done)
      override {
    if (all_.progress.has_value()) std::move(done)(*all_.progress);
  }
  void Fail(const absl::Status& why) override { all_.fails.push_back(why); }
  void Drop() override { all_.runs = false; }
  void SetHead(const std::string&) override {}
  void OnMeet(const MeetRequest&, GroupMeeting::Answer) override {}

  // No test goes so far that the seat hears of these.
  void JoinGroup(const TrainerGroup&, Done<absl::Status>) override {}
  void StartRun(const data::RangeSet&, const data::RangeSet&, uint64_t,
                Done<absl::StatusOr<RunReport>>) override {}
  void Cancel() override {}
  void Snapshot(const ElementRange&, Done<absl::Status>) override {}
  void Load(const ElementRange&, Done<absl::Status>) override {}
  void Evaluate(uint64_t, Done<absl::StatusOr<EvaluationReport>>) override {}
  void Generate(const GenerateRequest&,
                Done<absl::StatusOr<std::string>>) override {}
  bool CanSaveInner() override { return true; }
  void SaveInner(const InnerLabel&, Done<absl::Status>) override {}
  void LoadInner(uint64_t, Done<absl::StatusOr<InnerProgress>>) override {}
  TrainerMemory memory() override { return {}; }
  void Restart(const absl::Status& why) override {
    all_.listener->OnTrainerRestart(why);
  }

 private:
  FakeMachine& all_;
};

class FakeCheckpoints final : public CheckpointPort {
 public:
  explicit FakeCheckpoints(FakeMachine& all) : all_(all) {}
  void ReadBase(const job::JobSpec&, FakeMachine::BaseRead done) override {
    all_.reads.push_back(std::move(done));
  }
  void Save(StateToSave state, StateSaver::Written done) override {
    all_.saves.emplace_back(std::move(state), std::move(done));
  }
  void CheckFolder(FakeMachine::Told done) override {
    all_.checks.push_back(std::move(done));
  }

 private:
  FakeMachine& all_;
};

class FakeInner final : public InnerPort {
 public:
  explicit FakeInner(FakeMachine& all) : all_(all) {}
  absl::Status Tidy() override { return absl::OkStatus(); }
  bool is_there() const override { return true; }
  bool busy() const override { return all_.inner_busy; }
  absl::StatusOr<SharedBytes> Open(uint64_t) const override {
    return all_.inner;
  }
  void Import(const InnerSource&, FakeMachine::Told) override {}
  void SetWhyNone(const std::string&) override {}

 private:
  FakeMachine& all_;
};

class FakeData final : public DataPort {
 public:
  explicit FakeData(FakeMachine& all) : all_(all) {}
  void LookOnce() override {}
  bool Take() override { return all_.has_data; }
  void Release() override {}
  bool OnHolders(const std::vector<std::string>&) override { return false; }
  const std::string& folder() const override { return folder_; }
  bool is_verified() const override { return false; }
  std::string failure() const override { return ""; }
  std::string news() const override { return ""; }
  bool is_fetching() const override { return false; }
  bool has_data() const override { return all_.has_data; }
  void Give(const protocol::PieceKey&,
            transport::BulkReceiver::FetchAnswer) override {}

 private:
  FakeMachine& all_;
  const std::string folder_ = "/data";
};

class FakePeers final : public PeerPort {
 public:
  void AgreeCut(const std::string&, const CutRequest&,
                Done<absl::StatusOr<CutReply>>) override {}
};

inline JobMachine FakeMachine::Machine() {
  return {.loop = loop,
          .compute = compute,
          .bulk = bulk,
          .directory = directory,
          .worker = "a",
          .times = times,
          .make_ports =
              [this](const protocol::JobOrders&, const SeatAnswers& given,
                     JobListener& told) {
                ++shells;
                answers = &given;
                listener = &told;
                writes.clear();
                JobPorts ports;
                ports.folder = std::make_unique<FakeFolder>(*this);
                ports.inner = std::make_unique<FakeInner>(*this);
                ports.data = std::make_unique<FakeData>(*this);
                ports.checkpoints = std::make_unique<FakeCheckpoints>(*this);
                ports.peers = std::make_unique<FakePeers>();
                ports.trainer = std::make_unique<FakeProcess>(*this);
                return ports;
              },
          .after_sleep = [this] { ++sleeps; }};
}

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_SHELL_TESTING_FAKE_MACHINE_H_
