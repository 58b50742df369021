#include "worker/daemon/state_saver.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/sha256.h"
#include "base/status.h"
#include "checkpoint/checkpoint_store.h"
#include "checkpoint/data_tokenizer.h"
#include "checkpoint/model_files.h"
#include "planner/spans.h"
#include "runtime/directory_blob_store.h"
#include "runtime/log.h"

namespace skerry::worker {
namespace {

constexpr int kFetchesAtOnce = 4;

// Of the piece at that place of the order.
PieceKey KeyOf(const v1::CheckpointOrder& order, int index) {
  PieceKey key{PieceKey::Kind::kBase, Sequence(order.sequence()), Attempt(),
               static_cast<uint32_t>(index), order.pieces(index).hash()};
  const int fragments = order.fragment_sequences_size();
  if (fragments == 0) return key;
  const int spans = std::max(1, order.pieces_size() / fragments);
  const int fragment = std::min(index / spans, fragments - 1);
  key.fragment = static_cast<uint32_t>(fragment);
  key.span = static_cast<uint32_t>(index - fragment * spans);
  key.sequence = Sequence(order.fragment_sequences(fragment));
  return key;
}

// The anchor's values of each span, then as many of momentum or none.
absl::StatusOr<checkpoint::ModelState> Join(const StateToSave& from) {
  SKERRY_ASSIGN_OR_RETURN(
      const auto cut,
      planner::CutFragments(from.elements,
                            std::max(1u, from.spec.exchange().fragments()),
                            from.spec.exchange().spans()));
  std::vector<planner::SpanRange> spans;
  for (const auto& fragment : cut) {
    spans.insert(spans.end(), fragment.begin(), fragment.end());
  }
  if (spans.size() != from.pieces.size() ||
      spans.size() != static_cast<size_t>(from.order.pieces_size())) {
    return absl::InternalError(
        absl::StrCat("the order names ", from.pieces.size(),
                     " spans, the model has ", spans.size()));
  }
  checkpoint::ModelState state;
  state.config_json = from.spec.model().config_json();
  state.anchor.resize(from.elements);
  const bool with_momentum =
      !spans.empty() && from.pieces[0].size() > spans[0].size() * sizeof(float);
  if (with_momentum) state.outer_momentum.resize(from.elements);
  for (size_t i = 0; i < spans.size(); ++i) {
    const size_t part = spans[i].size() * sizeof(float);
    const SharedBytes& piece = from.pieces[i];
    if (Hash64(piece.bytes) != from.order.pieces(static_cast<int>(i)).hash()) {
      return absl::DataLossError(
          absl::StrCat("the base of span ", i, " is damaged on its disk"));
    }
    if (piece.size() != (with_momentum ? 2 * part : part)) {
      return absl::DataLossError(
          absl::StrCat("the base of span ", i, " has ", piece.size(),
                       " bytes, which does not fit the model"));
    }
    std::memcpy(&state.anchor[spans[i].begin], piece.bytes.data(), part);
    if (!with_momentum) continue;
    std::memcpy(&state.outer_momentum[spans[i].begin],
                piece.bytes.data() + part, part);
  }
  return state;
}

checkpoint::Manifest About(const StateToSave& from) {
  checkpoint::Manifest about{.job = from.spec.name(),
                             .job_id = from.job.value(),
                             .sequence = from.order.sequence(),
                             .samples = from.order.samples_committed(),
                             .files = {}};
  about.order = checkpoint::SampleOrder{
      .data_sha256 = from.spec.data().manifest_sha256(),
      .seed = from.spec.data().seed(),
      .sequence_tokens = from.spec.data().sequence_tokens()};
  for (const v1::SampleRange& range : from.order.consumed()) {
    about.consumed.push_back({range.begin(), range.end()});
  }
  return about;
}

// A coordinator that has lost its journal gives numbers again, so a folder may
// have the same sequence of another history.
absl::Status CheckSame(const checkpoint::CheckpointStore& store,
                       const std::string& name,
                       const checkpoint::ModelState& state) {
  SKERRY_ASSIGN_OR_RETURN(const checkpoint::Manifest manifest,
                          store.Find(name));
  return checkpoint::WriteState(
      state, checkpoint::ModelFileOptions().file_bytes_max,
      [&](const std::string& file, runtime::ByteSpan bytes) {
        const std::string sha256 = Sha256Hex(bytes);
        const bool same =
            std::any_of(manifest.files.begin(), manifest.files.end(),
                        [&](const checkpoint::CheckpointFile& one) {
                          return one.file == file && one.sha256 == sha256;
                        });
        return same ? absl::OkStatus()
                    : absl::FailedPreconditionError(absl::StrCat(
                          name, " is there with another state; give each job ",
                          "a folder of its own"));
      });
}

absl::Status WriteTo(checkpoint::CheckpointStore& store,
                     const StateToSave& from, runtime::Files& files) {
  absl::StatusOr<checkpoint::CheckpointWriter> writer =
      store.Begin(About(from));
  const bool is_there = absl::IsAlreadyExists(writer.status());
  if (!is_there) SKERRY_RETURN_IF_ERROR(writer.status());
  SKERRY_ASSIGN_OR_RETURN(checkpoint::ModelState state, Join(from));
  if (is_there) {
    return CheckSame(store, checkpoint::CheckpointName(from.order.sequence()),
                     state);
  }
  state.tokenizer_json = checkpoint::TokenizerJsonOf(
      from.spec.data().path(), from.spec.data().manifest_sha256(), files);
  SKERRY_RETURN_IF_ERROR(checkpoint::WriteState(
      state, checkpoint::ModelFileOptions().file_bytes_max,
      [&writer](const std::string& file, runtime::ByteSpan bytes) {
        return writer->Add(file, bytes);
      }));
  return writer->Seal();
}

absl::Status Save(const StateToSave& from, runtime::Files& files,
                  v1::CheckpointOutcome* outcome) {
  const v1::JobSpec::Checkpoints& where = from.spec.checkpoint();
  runtime::DirectoryBlobStore blobs(where.directory(), files);
  checkpoint::CheckpointStore store(blobs);
  const std::string name = checkpoint::CheckpointName(from.order.sequence());
  SKERRY_RETURN_IF_ERROR(WriteTo(store, from, files));
  SKERRY_RETURN_IF_ERROR(store.Verify(name));
  SKERRY_ASSIGN_OR_RETURN(const checkpoint::Manifest manifest,
                          store.Find(name));
  uint64_t bytes = 0;
  for (const checkpoint::CheckpointFile& file : manifest.files) {
    bytes += file.bytes;
  }
  outcome->set_bytes(bytes);
  SKERRY_ASSIGN_OR_RETURN(
      const std::vector<std::byte> text,
      blobs.Get(
          absl::StrCat(name, "/", std::string(checkpoint::kManifestFile))));
  outcome->set_sha256(Sha256Hex(text));
  // What is too old to be kept is no part of what was ordered.
  const auto removed = store.KeepNewest(
      where.keep(), {name, checkpoint::CheckpointName(from.order.pinned())});
  if (!removed.ok()) {
    runtime::Log(runtime::Severity::kWarning, "worker.checkpoint.not_removed",
                 {{"job", from.job.value()}, {"cause", removed.status()}});
  }
  return absl::OkStatus();
}

}  // namespace

v1::CheckpointOutcome SaveState(const StateToSave& state,
                                runtime::Files& files) {
  v1::CheckpointOutcome outcome;
  outcome.set_sequence(state.order.sequence());
  const absl::Status saved = Save(state, files, &outcome);
  if (!saved.ok()) outcome.set_error(std::string(saved.message()));
  return outcome;
}

StateSaver::StateSaver(JobId job, runtime::EventLoop& loop,
                       runtime::Executor& executor, runtime::Files& files,
                       Fetch fetch, absl::AnyInvocable<void()> changed)
    : job_(job),
      loop_(loop),
      executor_(executor),
      files_(files),
      fetch_(std::move(fetch)),
      changed_(std::move(changed)) {}

void StateSaver::OnOrders(const v1::JobOrders& orders, uint64_t elements) {
  if (busy_) return;
  if (!orders.has_checkpoint()) {
    if (outcome_.has_value() && !outcome_->error().empty()) outcome_.reset();
    return;
  }
  const v1::CheckpointOrder& order = orders.checkpoint();
  if (order.pieces().empty() || elements == 0 ||
      (outcome_.has_value() && outcome_->sequence() == order.sequence())) {
    return;
  }
  busy_ = true;
  spec_ = orders.spec();
  order_ = order;
  elements_ = elements;
  pieces_.assign(order.pieces_size(), SharedBytes());
  next_ = 0;
  failure_ = absl::OkStatus();
  outcome_.emplace().set_sequence(order.sequence());
  runtime::Log(runtime::Severity::kInfo, "worker.checkpoint.save",
               {{"job", job_.value()},
                {"sequence", order.sequence()},
                {"path", spec_.checkpoint().directory()}});
  changed_();
  Advance();
}

void StateSaver::Advance() {
  while (failure_.ok() && under_way_ < kFetchesAtOnce &&
         next_ < order_.pieces_size()) {
    ++under_way_;
    FetchPiece(next_++, 0);
  }
  if (under_way_ > 0) return;
  if (failure_.ok()) return Write();
  v1::CheckpointOutcome outcome;
  outcome.set_sequence(order_.sequence());
  outcome.set_error(std::string(failure_.message()));
  Finish(std::move(outcome));
}

void StateSaver::FetchPiece(int span, int attempt) {
  const v1::StatePiece& piece = order_.pieces(span);
  if (piece.addresses().empty()) {
    failure_ = absl::InvalidArgumentError(
        absl::StrCat("nobody is named for span ", span));
    --under_way_;
    return;
  }
  const PieceKey key = KeyOf(order_, span);
  // Spans begin with different holders, so that all share the work.
  const int holder = (span + attempt) % piece.addresses_size();
  fetch_(piece.addresses(holder), key,
         [this, span, attempt, alive = std::weak_ptr<char>(alive_)](
             Instant, absl::StatusOr<SharedBytes> bytes) {
           if (alive.expired()) return;
           const bool more = attempt + 1 < order_.pieces(span).addresses_size();
           if (!bytes.ok() && more && failure_.ok()) {
             return FetchPiece(span, attempt + 1);
           }
           --under_way_;
           if (bytes.ok()) {
             pieces_[span] = *std::move(bytes);
           } else if (failure_.ok()) {
             failure_ = bytes.status();
           }
           Advance();
         });
}

void StateSaver::Write() {
  auto state = std::make_shared<StateToSave>(
      StateToSave{job_, spec_, order_, elements_, std::move(pieces_)});
  pieces_.clear();
  executor_.Run([this, state = std::move(state), &files = files_, &loop = loop_,
                 alive = std::weak_ptr<char>(alive_)]() mutable {
    v1::CheckpointOutcome outcome = SaveState(*state, files);
    state.reset();
    loop.Post([this, outcome = std::move(outcome),
               alive = std::move(alive)]() mutable {
      if (!alive.expired()) Finish(std::move(outcome));
    });
  });
}

void StateSaver::Finish(v1::CheckpointOutcome outcome) {
  busy_ = false;
  pieces_.clear();
  if (outcome.error().empty()) {
    runtime::Log(runtime::Severity::kInfo, "worker.checkpoint.saved",
                 {{"job", job_.value()},
                  {"sequence", outcome.sequence()},
                  {"bytes", outcome.bytes()}});
  } else {
    runtime::Log(runtime::Severity::kError, "worker.checkpoint.failed",
                 {{"job", job_.value()},
                  {"sequence", outcome.sequence()},
                  {"cause", outcome.error()}});
  }
  outcome_ = std::move(outcome);
  changed_();
}

}  // namespace skerry::worker
