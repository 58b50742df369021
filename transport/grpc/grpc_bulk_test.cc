#include "transport/grpc/grpc_bulk.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/posix/posix_loop.h"
#include "runtime/testing/memory_files.h"
#include "transport/directory.h"
#include "transport/grpc/testing/bulk_driver.h"
#include "transport/grpc/testing/test_identity.h"
#include "transport/testing/bulk_conformance.h"

namespace skerry::transport {
namespace {

// The receiving end is at a socket of its own folder, so that it can come back
// to the same address without owning a port.
class GrpcBulkDriver final : public BulkDriver {
 public:
  GrpcBulkDriver() {
    std::string pattern = "/tmp/skerry-bulk-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~GrpcBulkDriver() override {
    End();
    unlink((folder_ + "/b").c_str());
    rmdir(folder_.c_str());
  }

  void Start(BulkReceiver& receiver) override {
    receiver_ = &receiver;
    StartReceiving();
    Run([this] {
      sending_ = Make("a", directory_, nobody_);
      directory_.Learn({{"b", {address()}}});
    });
  }
  void StartReceiving() override {
    Run([this] { receiving_ = Make("b", nowhere_, *receiver_, address()); });
  }

 private:
  std::string address() const { return "unix:" + folder_ + "/b"; }

  std::string folder_;
  Directory directory_;
  Directory nowhere_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(GrpcBulk, BulkConformance, GrpcBulkDriver);

class GrpcBulkTest : public testing::Test {
 protected:
  absl::Status StartStatus(const std::string& address,
                           const std::string& name) {
    GrpcBulkOptions options;
    options.listen_address = address;
    options.name = name;
    return GrpcBulk::Start(options, loop_, directory_, receiver_).status();
  }
  // On the loop.
  template <typename Answer>
  Answer Ask(std::function<Answer()> ask) {
    std::promise<Answer> answer;
    loop_.Post([&] { answer.set_value(ask()); });
    return answer.get_future().get();
  }
  std::unique_ptr<GrpcBulk> Listen(const std::string& name,
                                   Directory& directory,
                                   BulkReceiver& receiver) {
    return Ask<std::unique_ptr<GrpcBulk>>([&] {
      return GrpcBulk::Start({.listen_address = "127.0.0.1:0", .name = name},
                             loop_, directory, receiver)
          .value();
    });
  }

  runtime::PosixLoop loop_{"test-loop"};
  Directory directory_;
  RecordingReceiver receiver_;
};

TEST_F(GrpcBulkTest, PlaintextIsRefusedWhereOthersCanListen) {
  EXPECT_EQ(StartStatus("0.0.0.0:0", "w").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StartStatus("127.0.0.1:0", "").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(StartStatus("127.0.0.1:0", "two\nlines").code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(GrpcBulkTest, TwoWorkersCannotListenOnOnePort) {
  GrpcBulkOptions options;
  options.listen_address = "127.0.0.1:0";
  options.name = "w";
  const auto first = GrpcBulk::Start(options, loop_, directory_, receiver_);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_NE((*first)->address(), "127.0.0.1:0");
  EXPECT_EQ(StartStatus((*first)->address(), "x").code(),
            absl::StatusCode::kUnavailable);
}

TEST_F(GrpcBulkTest, SeveralChannelsCarryEverythingOnce) {
  GrpcBulkOptions options;
  options.listen_address = "127.0.0.1:0";
  options.name = "w";
  options.channels_per_peer = 3;
  auto bulk = GrpcBulk::Start(options, loop_, directory_, receiver_).value();
  std::promise<void> all_done;
  int accepted = 0;
  loop_.Post([&] {
    directory_.Learn({{"w", {bulk->address()}}});
    for (uint32_t i = 0; i < 60; ++i) {
      bulk->Send("w", MakeFrame(1, i, 100000), TrafficClass::kBulk,
                 [&](absl::Status status) {
                   EXPECT_TRUE(status.ok());
                   if (++accepted == 60) all_done.set_value();
                 });
    }
  });
  all_done.get_future().get();
  std::promise<BulkCounters> counters;
  loop_.Post([&] { counters.set_value(bulk->counters()); });
  const BulkCounters got = counters.get_future().get();
  EXPECT_EQ(got.from.at("w").frames_received, 60u);
  EXPECT_EQ(got.from.at("w").payload_bytes_received, 6000000u);
  loop_.Stop();
}

// The old place still listens, and would answer one day.
TEST_F(GrpcBulkTest, AWorkerThatMovesGetsWhatItsOldPlaceHasNotAnswered) {
  Directory nowhere;
  RecordingReceiver old_place;
  RecordingReceiver new_place;
  old_place.attempt = 0;  // wants the frames, but not yet
  std::promise<void> offered;
  std::promise<void> all_done;
  auto old_bulk = Listen("b", nowhere, old_place);
  auto new_bulk = Listen("b", nowhere, new_place);
  auto bulk = Listen("a", directory_, receiver_);
  int accepted = 0;
  std::function<void()> await_offer = [&] {
    if (old_place.offers > 0) return offered.set_value();
    loop_.RunAt(loop_.Now() + absl::Milliseconds(1), await_offer);
  };
  loop_.Post([&] {
    directory_.Learn({{"b", {old_bulk->address()}}});
    for (uint32_t i = 0; i < 8; ++i) {
      bulk->Send("b", MakeFrame(1, i, 1000), TrafficClass::kBulk,
                 [&](absl::Status status) {
                   EXPECT_TRUE(status.ok()) << status;
                   if (++accepted == 8) all_done.set_value();
                 });
    }
    await_offer();
  });
  offered.get_future().get();
  loop_.Post([&] { directory_.Learn({{"b", {new_bulk->address()}}}); });
  all_done.get_future().get();
  const auto counters =
      Ask<PeerCounters>([&] { return bulk->counters().to.at("b"); });
  EXPECT_EQ(counters.frames_accepted, 8u);
  EXPECT_EQ(new_place.frames.size(), 8u);
  EXPECT_TRUE(old_place.frames.empty());
  Ask<bool>([&] {
    for (auto* one : {&bulk, &old_bulk, &new_bulk}) one->reset();
    return true;
  });
  loop_.Stop();
}

TEST_F(GrpcBulkTest, FramesWaitUntilSomebodySaysWhereTheWorkerIs) {
  Directory nowhere;
  RecordingReceiver place;
  auto there = Listen("b", nowhere, place);
  auto bulk = Listen("a", directory_, receiver_);
  std::promise<absl::Status> fetched;
  std::promise<absl::Status> sent;
  loop_.Post([&] {
    bulk->Fetch("b", PieceKey(), [&](absl::StatusOr<SharedBytes> object) {
      fetched.set_value(object.status());
    });
    bulk->Send("b", MakeFrame(1, 0, 1000), TrafficClass::kBulk,
               [&](absl::Status status) { sent.set_value(status); });
  });
  const absl::Status unknown = fetched.get_future().get();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(unknown.message(), "nobody has said where worker b is reached");
  loop_.Post([&] { directory_.Learn({{"b", {there->address()}}}); });
  EXPECT_TRUE(sent.get_future().get().ok());
  Ask<bool>([&] {
    bulk.reset();
    there.reset();
    return true;
  });
  loop_.Stop();
}

// Two workers of one cluster with TLS, on one loop.
class SecureBulkTest : public testing::Test {
 protected:
  ~SecureBulkTest() override {
    OnLoop([this] { workers_.clear(); });
    loop_.Stop();
  }

  // A worker that calls itself `name` and has the certificate of `owner`.
  GrpcBulk& Make(const std::string& name, const std::string& owner) {
    return Make(name, cluster_.Worker(owner));
  }
  GrpcBulk& Make(const std::string& name, const identity::Name& owner) {
    GrpcBulkOptions options;
    options.listen_address = "127.0.0.1:0";
    options.name = name;
    options.credentials = cluster_.Make(owner, files_);
    credentials_.push_back(options.credentials);
    OnLoop([&] {
      Directory& directory = directories_.emplace_back();
      workers_.push_back(
          GrpcBulk::Start(options, loop_, directory, receiver_).value());
      names_[workers_.back().get()] = name;
      for (const auto& worker : workers_) {
        for (Directory& one : directories_) {
          one.Learn({{names_.at(worker.get()), {worker->address()}}});
        }
      }
    });
    return *workers_.back();
  }
  absl::Status Fetch(GrpcBulk& by, GrpcBulk& from) {
    std::promise<absl::Status> done;
    OnLoop([&] {
      by.Fetch(names_.at(&from), PieceKey(),
               [&](absl::StatusOr<SharedBytes> object) {
                 done.set_value(object.status());
               });
    });
    return done.get_future().get();
  }
  // Returns once the frame is accepted.
  void Send(GrpcBulk& by, GrpcBulk& to, Frame frame) {
    std::promise<void> done;
    OnLoop([&] {
      by.Send(names_.at(&to), std::move(frame), TrafficClass::kBulk,
              [&](absl::Status status) {
                EXPECT_TRUE(status.ok()) << status;
                done.set_value();
              });
    });
    done.get_future().get();
  }
  void OnLoop(std::function<void()> task) {
    std::promise<void> done;
    loop_.Post([&] {
      task();
      done.set_value();
    });
    done.get_future().get();
  }

  TestCluster cluster_{"lab"};
  runtime::MemoryFiles files_;
  RecordingReceiver receiver_;
  runtime::PosixLoop loop_{"test-loop"};
  std::vector<std::shared_ptr<Credentials>> credentials_;
  // Outlive the workers.
  std::deque<Directory> directories_;
  std::vector<std::unique_ptr<GrpcBulk>> workers_;
  std::map<const GrpcBulk*, std::string> names_;
};

TEST_F(SecureBulkTest, FramesComeUnderTheNameOfTheCertificate) {
  GrpcBulk& a = Make("a", "a");
  GrpcBulk& b = Make("b", "b");
  Send(a, b, MakeFrame(1, 0, 1000));
  EXPECT_EQ(receiver_.senders, absl::btree_set<std::string>({"a"}));
  EXPECT_TRUE(absl::IsNotFound(Fetch(a, b)));
  EXPECT_EQ(receiver_.fetchers.back(), (Fetcher{"a", true}));
}

TEST_F(SecureBulkTest, AnOperatorThatFetchesIsNoWorker) {
  GrpcBulk& a = Make("a", "a");
  GrpcBulk& ctl = Make("ctl", cluster_.Operator(identity::Role::kAdmin));
  EXPECT_TRUE(absl::IsNotFound(Fetch(ctl, a)));
  EXPECT_EQ(receiver_.fetchers.back(), (Fetcher{"ctl", false}));
}

TEST_F(SecureBulkTest, AWorkerThatTakesAnothersNameIsRefused) {
  GrpcBulk& liar = Make("a", "c");
  GrpcBulk& b = Make("b", "b");
  const absl::Status refused = Fetch(liar, b);
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
}

TEST_F(SecureBulkTest, APeerThatIsNotTheOneMeantGetsNothing) {
  GrpcBulk& a = Make("a", "a");
  GrpcBulk& b = Make("b", "b");
  credentials_.front()->peers().Set(b.address(), "d");
  EXPECT_TRUE(absl::IsUnavailable(Fetch(a, b)));
}

}  // namespace
}  // namespace skerry::transport
