#include "cli/fetch_state.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <future>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/posix/posix_loop.h"
#include "transport/directory.h"
#include "transport/grpc/grpc_bulk.h"
#include "transport/testing/recording_receiver.h"

namespace skerry::cli {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kElements = 3 * 4096 + 7;

// A worker's bulk end that holds bases.
class Holder {
 public:
  Holder(runtime::PosixLoop& loop, std::string name)
      : loop_(loop), name_(std::move(name)) {
    std::string pattern = "/tmp/skerry-fetch-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    Run([this] {
      auto bulk = transport::GrpcBulk::Start(
          {.listen_address = address(), .name = name_}, loop_, directory_,
          receiver_);
      ASSERT_TRUE(bulk.ok()) << bulk.status();
      bulk_ = *std::move(bulk);
    });
  }
  ~Holder() {
    Run([this] { bulk_.reset(); });
    unlink((folder_ + "/b").c_str());
    rmdir(folder_.c_str());
  }
  const std::string& name() const { return name_; }
  std::string address() const { return "unix:" + folder_ + "/b"; }
  // Holds `values` as the base of a span at sequence 5; answers its hash.
  uint64_t Hold(uint32_t span, const std::vector<float>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    const uint64_t hash = Hash64(bytes);
    const protocol::PieceKey key{
        .sequence = Sequence(5), .span = span, .hash = hash, .job = JobId(3)};
    Run([&] {
      receiver_.objects[key] =
          SharedBytes(std::vector<std::byte>(bytes.begin(), bytes.end()));
    });
    return hash;
  }

 private:
  void Run(std::function<void()> task) {
    std::promise<void> done;
    loop_.Post([&] {
      task();
      done.set_value();
    });
    done.get_future().get();
  }
  runtime::PosixLoop& loop_;
  const std::string name_;
  std::string folder_;
  transport::Directory directory_;
  transport::RecordingReceiver receiver_;
  std::unique_ptr<transport::GrpcBulk> bulk_;
};

std::vector<float> Numbers(size_t count, float first) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

class FetchStateTest : public testing::Test {
 protected:
  FetchStateTest() {
    where_.set_job(3);
    where_.set_sequence(5);
    where_.set_parameters(kElements);
    where_.mutable_spec()->mutable_exchange()->set_spans(64);
  }
  // Span i at `holder`: anchor values, then momentum when asked for.
  void Place(Holder& holder, size_t span, bool momentum) {
    const size_t begin = span * 4096;
    const size_t count = std::min<size_t>(4096, kElements - begin);
    std::vector<float> values = Numbers(count, static_cast<float>(begin));
    if (momentum) {
      const auto more = Numbers(count, -1e6f + static_cast<float>(begin));
      values.insert(values.end(), more.begin(), more.end());
    }
    while (where_.pieces_size() <= static_cast<int>(span)) where_.add_pieces();
    v1::StatePiece* piece = where_.mutable_pieces(static_cast<int>(span));
    piece->set_hash(holder.Hold(static_cast<uint32_t>(span), values));
    Name(holder, *piece);
  }
  void Name(const Holder& holder, v1::StatePiece& piece) {
    piece.add_addresses("127.0.0.1:1");  // nobody is there
    piece.add_workers(holder.name());
    v1::Endpoints* entry = where_.add_directory();
    entry->set_worker(holder.name());
    entry->add_endpoints(holder.address());
  }
  runtime::PosixLoop loop_{"holders"};
  v1::StateView where_;
};

TEST_F(FetchStateTest, SpansOfSeveralHoldersMakeOneState) {
  Holder a(loop_, "a"), b(loop_, "b");
  for (const size_t span : {0, 1}) Place(a, span, true);
  for (const size_t span : {2, 3}) Place(b, span, true);
  const auto state = FetchState(where_, transport::Credentials::Plaintext());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->anchor, Numbers(kElements, 0));
  EXPECT_EQ(state->outer_momentum, Numbers(kElements, -1e6f));
}

TEST_F(FetchStateTest, WithoutMomentumThereIsNone) {
  Holder a(loop_, "a");
  for (const size_t span : {0, 1, 2, 3}) Place(a, span, false);
  const auto state = FetchState(where_, transport::Credentials::Plaintext());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->anchor, Numbers(kElements, 0));
  EXPECT_TRUE(state->outer_momentum.empty());
}

TEST_F(FetchStateTest, ACoordinatorOfAnOlderReleaseNamesAddresses) {
  Holder a(loop_, "a");
  for (const size_t span : {0, 1, 2, 3}) {
    Place(a, span, false);
    v1::StatePiece* piece = where_.mutable_pieces(static_cast<int>(span));
    piece->clear_workers();
    piece->set_addresses(0, a.address());
  }
  where_.clear_directory();
  const auto state = FetchState(where_, transport::Credentials::Plaintext());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->anchor, Numbers(kElements, 0));
}

TEST_F(FetchStateTest, AHolderThatFailsIsPassedOver) {
  Holder empty(loop_, "empty"), a(loop_, "a");
  for (const size_t span : {0, 1, 2, 3}) {
    Name(empty, *where_.add_pieces());
    Place(a, span, false);
  }
  const auto state = FetchState(where_, transport::Credentials::Plaintext());
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->anchor, Numbers(kElements, 0));
}

TEST_F(FetchStateTest, APieceThatNobodyHasMeansToLocateAgain) {
  Holder a(loop_, "a");
  for (const size_t span : {0, 1, 2, 3}) Place(a, span, false);
  where_.set_sequence(4);
  const auto state = FetchState(where_, transport::Credentials::Plaintext());
  EXPECT_TRUE(absl::IsAborted(state.status())) << state.status();
  EXPECT_THAT(std::string(state.status().message()),
              HasSubstr("moved on from sequence 4"));
}

TEST_F(FetchStateTest, APieceOfAnotherSizeIsRefused) {
  Holder a(loop_, "a");
  for (const size_t span : {0, 1, 2, 3}) Place(a, span, span != 2);
  EXPECT_TRUE(absl::IsDataLoss(
      FetchState(where_, transport::Credentials::Plaintext()).status()));
  where_.mutable_pieces(2)->set_hash(a.Hold(2, Numbers(10, 0)));
  EXPECT_TRUE(absl::IsDataLoss(
      FetchState(where_, transport::Credentials::Plaintext()).status()));
}

// Holder "a" cannot be dialled from here, and the coordinator reaches it.
class ThroughTest : public FetchStateTest {
 protected:
  ThroughTest() {
    for (const size_t span : {0, 1, 2, 3}) {
      Place(a_, span, true);
      where_.mutable_pieces(static_cast<int>(span))->clear_addresses();
    }
    where_.clear_directory();
    v1::Endpoints* entry = where_.add_directory();
    entry->set_worker("a");
    entry->set_reverse(true);
    entry->add_endpoints(a_.address());
  }
  absl::StatusOr<FetchedState> FetchWith(FetchThrough through) {
    return FetchState(where_, transport::Credentials::Plaintext(),
                      std::move(through));
  }
  // The bytes of a span, as Place() makes them.
  static std::string BytesOf(size_t span) {
    const size_t begin = span * 4096;
    const size_t count = std::min<size_t>(4096, kElements - begin);
    std::vector<float> values = Numbers(count, static_cast<float>(begin));
    const auto more = Numbers(count, -1e6f + static_cast<float>(begin));
    values.insert(values.end(), more.begin(), more.end());
    return {reinterpret_cast<const char*>(values.data()),
            values.size() * sizeof(float)};
  }
  Holder a_{loop_, "a"};
};

TEST_F(ThroughTest, PiecesComeThroughTheCoordinatorWhenAHolderIsNotReached) {
  std::atomic<int> asked = 0;
  const auto state = FetchWith([&](const v1::FetchPieceRequest& request) {
    ++asked;
    EXPECT_EQ(request.key().job(), 3u);
    EXPECT_EQ(request.key().sequence(), 5u);
    EXPECT_EQ(request.workers_size(), 1);
    EXPECT_EQ(request.workers(0), "a");
    return BytesOf(request.key().span());
  });
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(state->anchor, Numbers(kElements, 0));
  EXPECT_EQ(state->outer_momentum, Numbers(kElements, -1e6f));
}

TEST_F(ThroughTest, AHolderThatIsReachedIsNotAskedForThroughTheCoordinator) {
  where_.mutable_directory(0)->set_reverse(false);
  const auto state = FetchWith([](const v1::FetchPieceRequest&) {
    ADD_FAILURE();
    return absl::UnavailableError("");
  });
  EXPECT_TRUE(state.ok()) << state.status();
}

TEST_F(ThroughTest, APieceThatChangedOnTheWayIsRefused) {
  const auto state = FetchWith([](const v1::FetchPieceRequest& request) {
    std::string bytes = BytesOf(request.key().span());
    bytes[7] = static_cast<char>(bytes[7] ^ 1);
    return bytes;
  });
  EXPECT_TRUE(absl::IsDataLoss(state.status())) << state.status();
}

TEST_F(ThroughTest, WhatWentWrongIsSaidOfBothWays) {
  const auto state = FetchWith([](const v1::FetchPieceRequest&) {
    return absl::UnavailableError("none of the workers is connected");
  });
  EXPECT_TRUE(absl::IsUnavailable(state.status()));
  EXPECT_THAT(std::string(state.status().message()),
              HasSubstr("through the coordinator: none of the workers is "
                        "connected; from here: nobody has said where worker a "
                        "is reached"));
  EXPECT_TRUE(absl::IsAborted(FetchWith([](const v1::FetchPieceRequest&) {
                                return absl::NotFoundError("not held");
                              }).status()));
  // A coordinator of an earlier release.
  const auto older = FetchWith([](const v1::FetchPieceRequest&) {
    return absl::UnimplementedError("");
  });
  EXPECT_EQ(older.status().message(),
            "nobody has said where worker a is reached");
}

TEST_F(FetchStateTest, ACoordinatorThatMakesNoSenseIsNotFollowed) {
  where_.add_pieces();
  EXPECT_TRUE(absl::IsInternal(
      FetchState(where_, transport::Credentials::Plaintext()).status()));
  for (int i = 0; i < 3; ++i) where_.add_pieces();
  EXPECT_TRUE(absl::IsInternal(
      FetchState(where_, transport::Credentials::Plaintext()).status()));
  where_.set_parameters(0);
  EXPECT_FALSE(FetchState(where_, transport::Credentials::Plaintext()).ok());
}

}  // namespace
}  // namespace skerry::cli
