#include "transport/memory/memory_bulk.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>

#include "runtime/testing/manual_loop.h"
#include "transport/testing/bulk_conformance.h"

namespace skerry::transport {
namespace {

class MemoryBulkDriver {
 public:
  void Start(BulkReceiver& receiver) {
    receiver_ = &receiver;
    StartReceiving();
    sending_ = std::make_unique<MemoryBulk>(MemoryBulkOptions(), network_, "a",
                                            nobody_, 1);
  }
  void StartReceiving() {
    receiving_ = std::make_unique<MemoryBulk>(MemoryBulkOptions(), network_,
                                              "b", *receiver_, 2);
  }
  void StopReceiving() { receiving_.reset(); }
  void RestartReceiving() {
    StopReceiving();
    StartReceiving();
  }
  void DestroySending() { sending_.reset(); }
  BulkTransport& sending() { return *sending_; }
  BulkTransport& receiving() { return *receiving_; }
  std::string peer() const { return "b"; }
  void Run(std::function<void()> task) {
    loop_.Post(std::move(task));
    loop_.RunUntilIdle();
  }
  void Await(std::function<bool()> is_so) {
    for (int i = 0; i < 10000 && !is_so(); ++i) {
      loop_.Advance(absl::Milliseconds(1));
    }
    ASSERT_TRUE(is_so());
  }
  void Settle() { loop_.Advance(absl::Seconds(1)); }

 private:
  runtime::ManualLoop loop_;
  MemoryNetwork network_{loop_, 3};
  RecordingReceiver nobody_;
  BulkReceiver* receiver_ = nullptr;
  std::unique_ptr<MemoryBulk> receiving_;
  std::unique_ptr<MemoryBulk> sending_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(MemoryBulk, BulkConformance, MemoryBulkDriver);

// One way through a link that does everything at once; returns what the
// receiver saw and when.
std::vector<std::pair<uint32_t, Instant>> Storm(uint64_t seed) {
  runtime::ManualLoop loop;
  MemoryNetwork network(loop, seed);
  RecordingReceiver nobody, receiver;
  MemoryBulk a({}, network, "a", nobody, seed);
  MemoryBulk b({}, network, "b", receiver, seed);
  network.SetLink("a", "b",
                  {.delay = absl::Milliseconds(20),
                   .corrupt_probability = 0.2,
                   .duplicate_probability = 0.2});
  int accepted = 0;
  for (uint32_t i = 0; i < 200; ++i) {
    a.Send("b", MakeFrame(1, i, 500), TrafficClass::kBulk,
           [&accepted](absl::Status status) {
             EXPECT_TRUE(status.ok());
             ++accepted;
           });
  }
  std::vector<std::pair<uint32_t, Instant>> seen;
  Random random(seed);
  for (int i = 0; i < 1000 && accepted < 200; ++i) {
    if (random.Below(10) == 0) network.BreakStreams("a", "b");
    loop.Advance(absl::Milliseconds(10));
    while (seen.size() < receiver.frames.size()) {
      seen.emplace_back(receiver.frames[seen.size()].header.part, loop.Now());
    }
  }
  EXPECT_EQ(accepted, 200) << "seed " << seed;
  std::vector<bool> parts(200);
  for (const auto& [part, when] : seen) parts[part] = true;
  EXPECT_EQ(parts, std::vector<bool>(200, true)) << "seed " << seed;
  const Frame sent = MakeFrame(1, 0, 500);
  for (const Frame& frame : receiver.frames) {
    EXPECT_TRUE(
        compression::CheckPayload(frame.header, frame.payload.bytes()).ok());
  }
  return seen;
}

TEST(MemoryBulkTest, DamageRepeatsAndBrokenStreamsCostNothingButTime) {
  const char* given = std::getenv("SKERRY_TEST_SEED");
  const uint64_t first =
      given == nullptr ? 1 : std::strtoull(given, nullptr, 0);
  for (uint64_t seed = first; seed < first + 10; ++seed) {
    EXPECT_EQ(Storm(seed), Storm(seed)) << "seed " << seed;
  }
}

TEST(MemoryBulkTest, ACutLinkIsSilentAndHealingBringsEverything) {
  runtime::ManualLoop loop;
  MemoryNetwork network(loop, 1);
  RecordingReceiver nobody, receiver;
  MemoryBulk a({}, network, "a", nobody, 1);
  MemoryBulk b({}, network, "b", receiver, 1);
  for (const bool answers_only : {false, true}) {
    receiver.frames.clear();
    int accepted = 0;
    const MemoryLink cut{.is_cut = true};
    network.SetLink("a", "b", answers_only ? MemoryLink() : cut);
    network.SetLink("b", "a", answers_only ? cut : MemoryLink());
    a.Send("b", MakeFrame(1, 0, 10), TrafficClass::kBulk,
           [&accepted](absl::Status) { ++accepted; });
    loop.Advance(absl::Minutes(1));
    EXPECT_EQ(accepted, 0);
    EXPECT_EQ(receiver.frames.size(), answers_only ? 1u : 0u);
    network.SetLink("a", "b", {});
    network.SetLink("b", "a", {});
    loop.Advance(absl::Seconds(2));
    EXPECT_EQ(accepted, 1);
    EXPECT_EQ(receiver.frames.size(), answers_only ? 2u : 1u);
  }
}

}  // namespace
}  // namespace skerry::transport
