#include "cli/fetch_state.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <future>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "planner/spans.h"
#include "runtime/posix/posix_executor.h"
#include "runtime/posix/posix_loop.h"
#include "transport/directory.h"
#include "transport/fetch_wire.h"
#include "transport/grpc/credentials.h"
#include "transport/grpc/grpc_bulk.h"

namespace skerry::cli {
namespace {

constexpr size_t kFetchesAtOnce = 4;

// skerryctl holds nothing and wants no frames.
class NoReceiver final : public transport::BulkReceiver {
 public:
  protocol::FrameVerdict OnFrame(const std::string&,
                                 const compression::FrameHeader&,
                                 const SharedBytes&) override {
    return protocol::FrameVerdict::kRefused;
  }
  absl::StatusOr<SharedBytes> OnFetch(const transport::Fetcher&,
                                      const protocol::PieceKey&) override {
    return absl::NotFoundError("skerryctl holds nothing");
  }
};

const google::protobuf::RepeatedPtrField<std::string>& HoldersOf(
    const v1::StatePiece& piece) {
  return piece.workers().empty() ? piece.addresses() : piece.workers();
}

// One state on its way. All members but Wait are called on the loop.
class Fetching {
 public:
  // `through` may be null.
  Fetching(const v1::StateView& where, std::vector<planner::SpanRange> spans,
           std::shared_ptr<transport::Credentials> credentials,
           FetchThrough through)
      : where_(where),
        spans_(std::move(spans)),
        credentials_(std::move(credentials)),
        through_(std::move(through)),
        callers_("piece", static_cast<int>(kFetchesAtOnce)) {
    state_.anchor.resize(where_.parameters());
  }

  void Start(runtime::EventLoop& loop) {
    loop_ = &loop;
    LearnDirectory();
    absl::StatusOr<std::unique_ptr<transport::GrpcBulk>> bulk =
        transport::GrpcBulk::Start({.listen_address = "127.0.0.1:0",
                                    .name = "skerryctl",
                                    .credentials = credentials_},
                                   loop, directory_, receiver_);
    if (bulk.ok()) {
      bulk_ = *std::move(bulk);
    } else {
      failure_ = bulk.status();
    }
    Advance();
  }
  void Stop() { bulk_.reset(); }

  // Until all is there or something is known to be missing.
  absl::StatusOr<FetchedState> Wait() {
    done_.get_future().wait();
    if (!failure_.ok()) return failure_;
    return std::move(state_);
  }

 private:
  // Coordinators of older releases name addresses only, which then stand for
  // the names.
  void LearnDirectory() {
    transport::Directory::Entries entries;
    for (const v1::Endpoints& one : where_.directory()) {
      // It opens streams to other workers, and skerryctl is none.
      if (one.reverse()) continue;
      entries[one.worker()] = {one.endpoints().begin(), one.endpoints().end()};
    }
    for (const v1::StatePiece& piece : where_.pieces()) {
      if (!piece.workers().empty()) continue;
      for (const std::string& address : piece.addresses()) {
        entries[address] = {address};
      }
    }
    directory_.Learn(entries);
  }

  void Advance() {
    while (failure_.ok() && under_way_ < kFetchesAtOnce &&
           next_ < spans_.size()) {
      ++under_way_;
      Fetch(next_++, 0);
    }
    if (under_way_ == 0) done_.set_value();
  }

  // Spans begin with different holders, so that all share the work.
  const std::string& HolderOf(size_t span, int attempt) const {
    const auto& holders = HoldersOf(where_.pieces(static_cast<int>(span)));
    return holders.Get(static_cast<int>((span + attempt) % holders.size()));
  }
  int HolderCount(size_t span) const {
    return HoldersOf(where_.pieces(static_cast<int>(span))).size();
  }

  protocol::PieceKey KeyOf(size_t span) const {
    const v1::StatePiece& piece = where_.pieces(static_cast<int>(span));
    protocol::PieceKey key{.sequence = Sequence(where_.sequence()),
                           .span = static_cast<uint32_t>(span),
                           .hash = piece.hash(),
                           .job = JobId(where_.job())};
    if (const int fragments = where_.fragment_sequences_size(); fragments > 0) {
      const size_t each = spans_.size() / fragments;
      key.fragment = static_cast<uint32_t>(span / each);
      key.span = static_cast<uint32_t>(span % each);
      key.sequence =
          Sequence(where_.fragment_sequences(static_cast<int>(key.fragment)));
    }
    return key;
  }

  // From the holder that is tried as number `attempt`, or the next one that can
  // be reached as far as is known.
  void Fetch(size_t span, int attempt) {
    while (through_ && attempt < HolderCount(span) &&
           out_of_reach_.contains(HolderOf(span, attempt))) {
      ++attempt;
    }
    if (attempt >= HolderCount(span)) return Ask(span);
    bulk_->Fetch(HolderOf(span, attempt), KeyOf(span),
                 [this, span, attempt](absl::StatusOr<SharedBytes> got) {
                   OnFetched(span, attempt, std::move(got));
                 });
  }

  // Through the coordinator, on a thread of its own.
  void Ask(size_t span) {
    v1::FetchPieceRequest request;
    const protocol::PieceKey key = KeyOf(span);
    request.mutable_key()->set_job(key.job.value());
    request.mutable_key()->set_fragment(key.fragment);
    request.mutable_key()->set_span(key.span);
    request.mutable_key()->set_sequence(key.sequence.value());
    request.mutable_key()->set_hash(key.hash);
    for (int i = 0; i < HolderCount(span); ++i) {
      request.add_workers(HolderOf(span, i));
    }
    callers_.Run([this, span, key, request = std::move(request)] {
      absl::StatusOr<std::string> got = through_(request);
      if (got.ok() &&
          !transport::IsObjectOf(key, std::as_bytes(std::span(*got)))) {
        got = absl::DataLossError("the piece does not match its hash");
      }
      loop_->Post([this, span, got = std::move(got)] {
        if (got.ok()) return OnPiece(span, std::as_bytes(std::span(*got)));
        // The coordinator is of an earlier release.
        if (absl::IsUnimplemented(got.status())) {
          return OnFailed(absl::UnavailableError(why_not_));
        }
        OnFailed(absl::Status(
            got.status().code(),
            absl::StrCat("through the coordinator: ", got.status().message(),
                         why_not_.empty() ? "" : "; from here: ", why_not_)));
      });
    });
  }

  void OnFetched(size_t span, int attempt, absl::StatusOr<SharedBytes> got) {
    if (got.ok()) return OnPiece(span, got->bytes());
    if (through_ && failure_.ok() && absl::IsUnavailable(got.status())) {
      out_of_reach_.insert(HolderOf(span, attempt));
      if (why_not_.empty()) why_not_ = std::string(got.status().message());
      return Ask(span);
    }
    const bool more = attempt + 1 < HolderCount(span);
    if (more && failure_.ok()) return Fetch(span, attempt + 1);
    OnFailed(got.status());
  }

  void OnPiece(size_t span, std::span<const std::byte> bytes) {
    --under_way_;
    if (failure_.ok()) failure_ = Take(span, bytes);
    Advance();
  }

  void OnFailed(const absl::Status& why) {
    --under_way_;
    if (failure_.ok() && absl::IsNotFound(why)) {
      failure_ = absl::AbortedError(
          absl::StrCat("the workers have moved on from sequence ",
                       where_.sequence(), ": ", why.message()));
    } else if (failure_.ok()) {
      failure_ = why;
    }
    Advance();
  }

  // The anchor's values, then as many of momentum or none.
  absl::Status Take(size_t span, std::span<const std::byte> bytes) {
    const planner::SpanRange& range = spans_[span];
    const size_t part = range.size() * sizeof(float);
    const bool with_momentum = bytes.size() == 2 * part;
    if (taken_ > 0 && with_momentum != with_momentum_) {
      return Misfit(span, bytes.size());
    }
    if (!with_momentum && bytes.size() != part) {
      return Misfit(span, bytes.size());
    }
    std::memcpy(&state_.anchor[range.begin], bytes.data(), part);
    if (with_momentum) {
      state_.outer_momentum.resize(where_.parameters());
      std::memcpy(&state_.outer_momentum[range.begin], bytes.data() + part,
                  part);
    }
    with_momentum_ = with_momentum;
    ++taken_;
    return absl::OkStatus();
  }

  static absl::Status Misfit(size_t span, size_t bytes) {
    return absl::DataLossError(
        absl::StrCat("the base of span ", span, " has ", bytes,
                     " bytes, which does not fit the model"));
  }

  const v1::StateView& where_;
  const std::vector<planner::SpanRange> spans_;
  const std::shared_ptr<transport::Credentials> credentials_;
  const FetchThrough through_;
  runtime::EventLoop* loop_ = nullptr;
  // Holders that did not answer, and why the first of them did not.
  std::set<std::string> out_of_reach_;
  std::string why_not_;
  NoReceiver receiver_;
  transport::Directory directory_;
  std::unique_ptr<transport::GrpcBulk> bulk_;
  FetchedState state_;
  bool with_momentum_ = false;
  size_t taken_ = 0;
  size_t next_ = 0;
  size_t under_way_ = 0;
  absl::Status failure_;
  std::promise<void> done_;
  // Ends before what its tasks use.
  runtime::PosixExecutor callers_;
};

}  // namespace

absl::StatusOr<FetchedState> FetchState(
    const v1::StateView& where,
    std::shared_ptr<transport::Credentials> credentials, FetchThrough through) {
  const uint32_t fragments = std::max(1u, where.spec().exchange().fragments());
  SKERRY_ASSIGN_OR_RETURN(
      const auto cut, planner::CutFragments(where.parameters(), fragments,
                                            where.spec().exchange().spans()));
  const int named = where.fragment_sequences_size();
  if (named != (fragments == 1 ? 0 : static_cast<int>(fragments))) {
    return absl::InternalError(absl::StrCat("the coordinator names ", named,
                                            " sequences of ", fragments,
                                            " fragments"));
  }
  std::vector<planner::SpanRange> spans;
  for (const auto& fragment : cut) {
    spans.insert(spans.end(), fragment.begin(), fragment.end());
  }
  if (spans.size() != static_cast<size_t>(where.pieces_size())) {
    return absl::InternalError(
        absl::StrCat("the coordinator names ", where.pieces_size(),
                     " spans, the model has ", spans.size()));
  }
  for (const v1::StatePiece& piece : where.pieces()) {
    if (HoldersOf(piece).empty()) {
      return absl::InternalError("the coordinator names a span without holder");
    }
  }
  Fetching fetching(where, std::move(spans), std::move(credentials),
                    std::move(through));
  runtime::PosixLoop loop("fetch");
  loop.Post([&] { fetching.Start(loop); });
  absl::StatusOr<FetchedState> state = fetching.Wait();
  loop.Post([&] { fetching.Stop(); });
  loop.Stop();
  return state;
}

}  // namespace skerry::cli
