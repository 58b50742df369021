// What a relay does with the messages of bare calls.
#include "transport/grpc/relayed_call.h"

#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "transport/directory.h"
#include "transport/grpc/buffers.h"
#include "transport/grpc/bulk_names.h"
#include "transport/grpc/grpc_bulk.h"
#include "transport/grpc/testing/bulk_nodes.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::transport {
namespace {

// One end of a relayed stream, without anything behind it.
class BareCall final
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  BareCall(const std::string& address, const char* method,
           const std::string& from, const std::string& peer) {
    context_.AddMetadata(kVersionKey, kVersion);
    context_.AddMetadata(kFromKey, from);
    context_.AddMetadata(kPeerKey, peer);
    context_.AddMetadata(kStreamKey, "1");
    grpc::GenericStub(PlaintextChannel(address))
        .PrepareBidiStreamingCall(&context_, method, grpc::StubOptions(), this);
    AddHold();
    StartCall();
  }

  // Writes so many messages of that size, one after another.
  void WriteAll(int count, size_t bytes) {
    left_ = count;
    text_ = std::string(bytes, 'x');
    WriteNext();
  }
  // Returns the first bytes of the next message.
  std::string ReadOne() {
    std::unique_lock<std::mutex> lock(mutex_);
    has_read_ = false;
    StartRead(&reading_);
    changed_.wait(lock, [this] { return has_read_; });
    const auto bytes = MessageToBytes(reading_);
    std::string text;
    for (size_t i = 0; bytes.ok() && i < 8; ++i) {
      text.push_back(static_cast<char>((*bytes)[i]));
    }
    return text;
  }
  int written() {
    std::lock_guard<std::mutex> lock(mutex_);
    return written_;
  }
  // Returns how the relay has ended the call.
  grpc::StatusCode AwaitEnd() {
    RemoveHold();
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return is_done_; });
    return code_;
  }
  void Finish() {
    context_.TryCancel();
    AwaitEnd();
  }

 private:
  void WriteNext() {
    const std::string head = absl::StrCat(absl::Dec(left_, absl::kZeroPad8));
    text_.replace(0, head.size(), head);
    writing_ = BytesToMessage(std::as_bytes(std::span(text_)));
    StartWrite(&writing_);
  }
  void OnWriteDone(bool ok) override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!ok) return;
      ++written_;
    }
    if (--left_ > 0) WriteNext();
  }
  void OnReadDone(bool) override {
    std::lock_guard<std::mutex> lock(mutex_);
    has_read_ = true;
    changed_.notify_all();
  }
  void OnDone(const grpc::Status& status) override {
    std::lock_guard<std::mutex> lock(mutex_);
    is_done_ = true;
    code_ = status.error_code();
    changed_.notify_all();
  }

  grpc::ClientContext context_;
  std::string text_;
  int left_ = 0;
  grpc::ByteBuffer writing_;
  grpc::ByteBuffer reading_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // All are guarded by mutex_.
  int written_ = 0;
  bool has_read_ = false;
  bool is_done_ = false;
  grpc::StatusCode code_ = grpc::StatusCode::OK;
};

// A relay of the pair a and b, without TLS.
class BareRelayTest : public testing::Test {
 protected:
  BareRelayTest() {
    loop_.Run([&] {
      GrpcBulkOptions options;
      options.listen_address = "127.0.0.1:0";
      options.name = "r";
      directory_.SetRelayed({{"a", "b"}});
      relay_ =
          GrpcBulk::Start(options, loop_.loop, directory_, receiver_).value();
    });
  }
  ~BareRelayTest() override {
    loop_.Run([&] { relay_.reset(); });
  }

  BulkLoop loop_;
  Directory directory_;
  RecordingReceiver receiver_;
  std::unique_ptr<GrpcBulk> relay_;
};

// The older one may be dead without a sign.
TEST_F(BareRelayTest, OfTwoCallsWithOneNumberTheNewerCounts) {
  BareCall sender(relay_->address(), kRelayFramesMethod, "a", "b");
  BareCall older(relay_->address(), kRelayReverseFramesMethod, "b", "a");
  sender.WriteAll(1, 100);
  EXPECT_EQ(older.ReadOne(), "00000001");
  BareCall newer(relay_->address(), kRelayReverseFramesMethod, "b", "a");
  EXPECT_EQ(older.AwaitEnd(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(sender.AwaitEnd(), grpc::StatusCode::UNAVAILABLE);
  BareCall again(relay_->address(), kRelayFramesMethod, "a", "b");
  again.WriteAll(1, 100);
  EXPECT_EQ(newer.ReadOne(), "00000001");
  again.Finish();
  newer.Finish();
}

// What the relay keeps for a receiver that does not read is bounded by windows
// of two connections, and not by what is sent.
TEST_F(BareRelayTest, ASenderIsNoFasterThanItsReceiver) {
  constexpr int kMessages = 400;
  constexpr int kAheadMax = 128;
  BareCall sender(relay_->address(), kRelayFramesMethod, "a", "b");
  BareCall taker(relay_->address(), kRelayReverseFramesMethod, "b", "a");
  sender.WriteAll(kMessages, size_t{1} << 20);
  int furthest = 0;
  for (int read = 0; read < kMessages; ++read) {
    ASSERT_EQ(taker.ReadOne(),
              absl::StrCat(absl::Dec(kMessages - read, absl::kZeroPad8)));
    // The sender has the time to run ahead.
    if (read < 20) {
      int turns = 0;
      loop_.Await([&turns] { return ++turns > 20; });
    }
    furthest = std::max(furthest, sender.written() - read);
  }
  EXPECT_LE(furthest, kAheadMax);
  sender.Finish();
  taker.Finish();
}

}  // namespace
}  // namespace skerry::transport
