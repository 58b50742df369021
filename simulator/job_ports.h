// simulator/job_ports.h
//
// The ports of one job to its simulated machine: its folder on the disk, the
// folder of checkpoints, its data, and the head of its replica.
#ifndef SKERRY_SIMULATOR_JOB_PORTS_H_
#define SKERRY_SIMULATOR_JOB_PORTS_H_

#include <memory>
#include <string>
#include <vector>

#include "protocol/job_orders.h"
#include "simulator/worker_disk.h"
#include "worker/daemon/seat_answers.h"
#include "worker/shell/job_ports.h"

namespace skerry::sim {

class World;
class WorkerNode;

// Members are called on the loop of the node's process. All references outlive
// the ports.
class SimFolder final : public worker::FolderPort {
 public:
  // `path`: the job's folder.
  SimFolder(World& world, WorkerNode& node, std::string path,
            const worker::SeatAnswers& answers, worker::JobListener& listener);

  absl::StatusOr<std::vector<worker::StoredFile>> Scan() override;
  void Store(const worker::StoredFile& file, std::vector<SharedBytes> contents,
             worker::Done<absl::Status> done) override;
  absl::StatusOr<SharedBytes> Map(const worker::StoredFile& file,
                                  uint32_t span) override;
  void Delete(const worker::StoredFile& file) override;

 private:
  std::string PathOf(const worker::StoredFile& file) const;
  // Makes the folder again where somebody has removed it.
  void WriteFile(const std::string& path, FileBytes bytes,
                 WorkerDisk::Done done);

  WorkerNode& node_;
  WorkerDisk& disk_;
  const std::string path_;
  const worker::SeatAnswers& answers_;
  worker::JobListener& listener_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// The folder of checkpoints that all workers share. A worker whose own disk is
// full reaches it neither for writing nor for reading.
class SimCheckpoints final : public worker::CheckpointPort {
 public:
  // `orders` are the first that name the job.
  SimCheckpoints(World& world, WorkerNode& node,
                 const protocol::JobOrders& orders);

  void ReadBase(
      const job::JobSpec& spec,
      absl::AnyInvocable<void(absl::StatusOr<worker::StartingBase>) &&> done)
      override;
  void Save(worker::StateToSave state,
            worker::StateSaver::Written done) override;
  void CheckFolder(absl::AnyInvocable<void(absl::Status) &&> done) override;

 private:
  absl::Status Usable() const;
  // Runs `task` once a checkpoint was written or read, unless the port is gone.
  void Later(runtime::Task task);

  World& world_;
  WorkerNode& node_;
  const JobId job_;
  const protocol::RestoredState restored_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// Simulated trainers have no inner state.
class SimInner final : public worker::InnerPort {
 public:
  // `loop` outlives the object.
  explicit SimInner(runtime::EventLoop& loop) : loop_(loop) {}

  absl::Status Tidy() override { return absl::OkStatus(); }
  bool is_there() const override { return false; }
  bool busy() const override { return false; }
  absl::StatusOr<SharedBytes> Open(uint64_t) const override {
    return absl::NotFoundError("trainers save none");
  }
  void Import(const worker::InnerSource&,
              absl::AnyInvocable<void(absl::Status) &&> done) override;
  void SetWhyNone(const std::string&) override {}

 private:
  runtime::EventLoop& loop_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// Every worker has the data of every job.
class SimData final : public worker::DataPort {
 public:
  void LookOnce() override {}
  bool Take() override { return true; }
  void Release() override {}
  bool OnHolders(const std::vector<std::string>&) override { return false; }
  const std::string& folder() const override { return folder_; }
  bool is_verified() const override { return true; }
  std::string failure() const override { return ""; }
  std::string news() const override { return ""; }
  bool is_fetching() const override { return false; }
  bool has_data() const override { return false; }
  void Give(const protocol::PieceKey&,
            transport::BulkReceiver::FetchAnswer answer) override {
    std::move(answer)(absl::NotFoundError("no data are given"));
  }

 private:
  const std::string folder_ = "/data";
};

class SimPeers final : public worker::PeerPort {
 public:
  SimPeers(World& world, WorkerNode& node, JobId job,
           const worker::SeatAnswers& answers);

  void AgreeCut(const std::string& head, const worker::CutRequest& request,
                worker::Done<absl::StatusOr<worker::CutReply>> done) override;

 private:
  World& world_;
  WorkerNode& node_;
  const JobId job_;
  const worker::SeatAnswers& answers_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace skerry::sim

#endif  // SKERRY_SIMULATOR_JOB_PORTS_H_
