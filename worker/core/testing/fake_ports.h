// worker/core/testing/fake_ports.h
//
// Gives a test of one part of a seat its ports. They record what is asked, and
// answer when the test says so.
#ifndef SKERRY_WORKER_CORE_TESTING_FAKE_PORTS_H_
#define SKERRY_WORKER_CORE_TESTING_FAKE_PORTS_H_

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "worker/core/effects.h"

namespace skerry::worker {

// Work and answers wait in one queue, in the order in which they were asked
// for. While the disk is slow, files to be stored wait longer.
class FakePorts : public BulkPort, public DiskPort, public HostPort {
 public:
  struct Sent {
    std::string worker;
    compression::FrameHeader header;
    SharedBytes payload;
  };

  void Run() {
    while (!queue_.empty()) {
      auto task = std::move(queue_.front());
      queue_.pop_front();
      std::move(task)();
    }
  }

  void SetDiskSlow(bool slow) {
    disk_slow_ = slow;
    while (!slow && !stores_.empty()) {
      queue_.push_back(std::move(stores_.front()));
      stores_.pop_front();
    }
  }

  void SendFrame(const std::string& worker,
                 const compression::FrameHeader& header,
                 const SharedBytes& payload) override {
    sent.push_back({worker, header, payload});
  }
  void ForgetBefore(uint32_t, Attempt) override {}
  void Fetch(const std::string& worker, const PieceKey& key,
             Done<absl::StatusOr<SharedBytes>> done) override {
    fetched.push_back({worker, key});
    const auto it = remote.find({worker, key});
    absl::StatusOr<SharedBytes> bytes = absl::NotFoundError("not there");
    if (it != remote.end()) bytes = it->second;
    queue_.push_back([bytes, done = std::move(done)]() mutable {
      std::move(done)(Instant(), bytes);
    });
  }
  void Store(const StoredFile& file, std::vector<SharedBytes> contents,
             Done<absl::Status> done) override {
    (disk_slow_ ? stores_ : queue_)
        .push_back([this, file, contents = std::move(contents),
                    done = std::move(done)]() mutable {
          files.push_back({file, std::move(contents)});
          std::move(done)(Instant(), absl::OkStatus());
        });
  }
  absl::StatusOr<SharedBytes> Map(const StoredFile& file,
                                  uint32_t span) override {
    for (const auto& [stored, contents] : files) {
      if (!(stored == file)) continue;
      for (size_t i = 0; i < stored.pieces.size(); ++i) {
        if (stored.pieces[i].span == span) return contents[i];
      }
    }
    return absl::NotFoundError("no such piece");
  }
  void Delete(const StoredFile& file) override {
    deleted.push_back(file);
    std::erase_if(files, [&](const auto& one) { return one.first == file; });
  }
  void Compute(absl::AnyInvocable<void() &&> work,
               absl::AnyInvocable<void(Instant now) &&> done) override {
    queue_.push_back(
        [work = std::move(work), done = std::move(done)]() mutable {
          std::move(work)();
          std::move(done)(Instant());
        });
  }
  void StatusChanged() override {}
  void Event(std::string_view line) override { events.emplace_back(line); }
  void Trace(std::string_view line) override { events.emplace_back(line); }

  std::vector<Sent> sent;
  std::vector<std::pair<std::string, PieceKey>> fetched;
  std::map<std::pair<std::string, PieceKey>, SharedBytes> remote;
  std::vector<std::pair<StoredFile, std::vector<SharedBytes>>> files;
  std::vector<StoredFile> deleted;
  std::vector<std::string> events;

 private:
  std::deque<absl::AnyInvocable<void() &&>> queue_;
  std::deque<absl::AnyInvocable<void() &&>> stores_;
  bool disk_slow_ = false;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_TESTING_FAKE_PORTS_H_
