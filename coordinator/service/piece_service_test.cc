#include "coordinator/service/piece_service.h"

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/release.h"
#include "coordinator/service/testing/coordinator_process.h"
#include "coordinator/service/testing/memory_journal.h"
#include "gtest/gtest.h"
#include "proto/skerry/v1/control.grpc.pb.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::coordinator {
namespace {

using grpc::StatusCode;

// An operator fetches a piece that worker "a" sends.
class PieceTest : public testing::Test {
 protected:
  PieceTest() : process_(disk_) {
    EXPECT_TRUE(process_.started().ok()) << process_.started();
    const auto channel = transport::PlaintextChannel(process_.address());
    pieces_ = v1::Pieces::NewStub(channel);
    control_ = v1::Control::NewStub(channel);
    session_ = control_->Session(&context_);
    v1::Status status;
    status.set_protocol_version(kProtocolVersion);
    status.set_release(kRelease);
    status.mutable_self()->set_worker("a");
    status.mutable_self()->set_address("127.0.0.1:1");
    status.set_island("north");
    status.set_boot(7);
    status.set_folder(1);
    status.set_counter(1);
    session_->Write(status);
    Hear();
  }
  ~PieceTest() override {
    context_.TryCancel();
    session_->Finish();
  }
  v1::Orders Hear() {
    v1::Orders orders;
    EXPECT_TRUE(session_->Read(&orders));
    return orders;
  }
  void Begin(uint64_t offset) {
    v1::FetchPieceRequest request;
    request.mutable_key()->set_job(3);
    request.mutable_key()->set_span(2);
    request.mutable_key()->set_hash(77);
    request.add_workers("gone");
    request.add_workers("a");
    request.set_offset(offset);
    reader_ = pieces_->FetchPiece(&fetching_, request);
  }
  // What the worker's orders ask of it.
  v1::PieceOrder Asked() {
    v1::Orders orders = Hear();
    while (orders.pieces().empty()) orders = Hear();
    return orders.pieces(0);
  }
  grpc::Status Deliver(const std::vector<v1::DeliveredChunk>& chunks) {
    grpc::ClientContext context;
    v1::DeliverPieceReply reply;
    const auto writer = pieces_->DeliverPiece(&context, &reply);
    for (const v1::DeliveredChunk& chunk : chunks) writer->Write(chunk);
    writer->WritesDone();
    return writer->Finish();
  }
  static v1::DeliveredChunk Chunk(uint64_t request, const std::string& data,
                                  uint64_t total) {
    v1::DeliveredChunk chunk;
    chunk.set_request(request);
    chunk.mutable_chunk()->set_data(data);
    chunk.mutable_chunk()->set_total_bytes(total);
    return chunk;
  }
  // All that comes to the operator, and how it ends.
  std::pair<std::string, grpc::Status> Read() {
    std::string bytes;
    v1::PieceChunk chunk;
    while (reader_->Read(&chunk)) bytes += chunk.data();
    return {bytes, reader_->Finish()};
  }

  MemoryDisk disk_;
  CoordinatorProcess process_;
  std::unique_ptr<v1::Pieces::Stub> pieces_;
  std::unique_ptr<v1::Control::Stub> control_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::Status, v1::Orders>> session_;
  grpc::ClientContext fetching_;
  std::unique_ptr<grpc::ClientReader<v1::PieceChunk>> reader_;
};

TEST_F(PieceTest, AConnectedHolderSendsThePieceThroughTheCoordinator) {
  Begin(2);
  const v1::PieceOrder asked = Asked();
  EXPECT_EQ(asked.key().job(), 3u);
  EXPECT_EQ(asked.key().span(), 2u);
  EXPECT_EQ(asked.key().hash(), 77u);
  EXPECT_EQ(asked.offset(), 2u);
  const grpc::Status sent =
      Deliver({Chunk(asked.request(), "cd", 6), Chunk(0, "ef", 6)});
  EXPECT_TRUE(sent.ok()) << sent.error_message();
  const auto [bytes, end] = Read();
  EXPECT_EQ(bytes, "cdef");
  EXPECT_TRUE(end.ok()) << end.error_message();
}

TEST_F(PieceTest, AWorkerThatStopsInTheMiddleLeavesWhatCame) {
  Begin(0);
  Deliver({Chunk(Asked().request(), "ab", 6)});
  const auto [bytes, end] = Read();
  EXPECT_EQ(bytes, "ab");
  EXPECT_EQ(end.error_code(), StatusCode::UNAVAILABLE);
}

TEST_F(PieceTest, TheWorkersErrorReachesTheOperator) {
  Begin(0);
  v1::DeliveredChunk none;
  none.set_request(Asked().request());
  none.set_error_code(StatusCode::NOT_FOUND);
  none.set_error("a holds no such piece");
  Deliver({none});
  const auto [bytes, end] = Read();
  EXPECT_EQ(end.error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(end.error_message(), "a holds no such piece");
}

TEST_F(PieceTest, WhatNobodyAskedForIsRefused) {
  EXPECT_EQ(Deliver({Chunk(12345, "ab", 2)}).error_code(),
            StatusCode::NOT_FOUND);
  Begin(0);
  const uint64_t request = Asked().request();
  fetching_.TryCancel();
  Read();
  // The coordinator has heard of it once the worker is not asked any more.
  v1::Orders orders = Hear();
  while (!orders.pieces().empty()) orders = Hear();
  EXPECT_EQ(Deliver({Chunk(request, "ab", 2)}).error_code(),
            StatusCode::NOT_FOUND);
}

TEST_F(PieceTest, WithoutAConnectedHolderTheAnswerIsOneLine) {
  v1::FetchPieceRequest request;
  request.mutable_key()->set_job(3);
  request.add_workers("gone");
  reader_ = pieces_->FetchPiece(&fetching_, request);
  const auto [bytes, end] = Read();
  EXPECT_EQ(end.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(end.error_message(),
            "none of the workers that hold it is connected: gone");
  grpc::ClientContext context;
  request.clear_workers();
  reader_ = pieces_->FetchPiece(&context, request);
  EXPECT_EQ(Read().second.error_code(), StatusCode::INVALID_ARGUMENT);
}

}  // namespace
}  // namespace skerry::coordinator
