#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/client.h"
#include "proto/skerry/v1/piece.grpc.pb.h"
#include "transport/grpc/testing/plaintext.h"

namespace skerry::cli {
namespace {

using grpc::StatusCode;

// Answers each call with the next of `answers`, and remembers what was asked.
class Coordinator final : public v1::Pieces::Service {
 public:
  struct Answer {
    std::string data;
    grpc::Status end;
  };
  grpc::Status FetchPiece(grpc::ServerContext*,
                          const v1::FetchPieceRequest* request,
                          grpc::ServerWriter<v1::PieceChunk>* writer) override {
    asked.push_back(
        absl::StrCat(request->workers(0), " from ", request->offset()));
    if (answers.empty()) return {StatusCode::UNAVAILABLE, "nobody is there"};
    const Answer answer = answers.front();
    answers.pop_front();
    v1::PieceChunk chunk;
    chunk.set_data(answer.data);
    if (!answer.data.empty()) writer->Write(chunk);
    return answer.end;
  }
  std::deque<Answer> answers;
  std::vector<std::string> asked;
};

class FetchPieceTest : public testing::Test {
 protected:
  FetchPieceTest() {
    grpc::ServerBuilder builder;
    int port = 0;
    transport::Credentials::Plaintext()->AddPort("127.0.0.1:0", builder, &port);
    server_ = builder.RegisterService(&coordinator_).BuildAndStart();
    client_ = Client::Make(absl::StrCat("127.0.0.1:", port),
                           transport::Credentials::Plaintext())
                  .value();
  }
  absl::StatusOr<std::string> Fetch() {
    v1::FetchPieceRequest request;
    request.add_workers("a");
    request.add_workers("b");
    return client_->FetchPiece(request);
  }
  Coordinator coordinator_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(FetchPieceTest, ATransferThatBreaksGoesOnWithTheNextWorker) {
  coordinator_.answers = {
      {"ab", {StatusCode::UNAVAILABLE, "the worker stopped in the middle"}},
      {"", {StatusCode::NOT_FOUND, "not here"}},
      {"cd", grpc::Status::OK}};
  EXPECT_EQ(Fetch().value(), "abcd");
  EXPECT_EQ(coordinator_.asked,
            (std::vector<std::string>{"a from 0", "b from 2", "a from 2"}));
}

TEST_F(FetchPieceTest, ItIsGivenUpWhenNothingComesFromAnyWorker) {
  const auto found = Fetch();
  EXPECT_TRUE(absl::IsUnavailable(found.status()));
  EXPECT_EQ(found.status().message(), "nobody is there");
  EXPECT_EQ(coordinator_.asked.size(), 3u);
}

TEST_F(FetchPieceTest, ARefusalIsNotRepeated) {
  coordinator_.answers = {{"", {StatusCode::PERMISSION_DENIED, "not for you"}}};
  EXPECT_TRUE(absl::IsPermissionDenied(Fetch().status()));
  EXPECT_EQ(coordinator_.asked.size(), 1u);
}

}  // namespace
}  // namespace skerry::cli
