#include "worker/core/cut_agreement.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace skerry::worker {

CutAgreement::~CutAgreement() { Begin(Life(), 0); }

void CutAgreement::Begin(Life life, uint32_t size) {
  auto waiting = std::exchange(waiting_, {});
  waiting_.resize(size);
  life_ = life;
  round_ = Round(1);
  last_.reset();
  for (auto& one : waiting) {
    if (one) std::move(one->answer)(absl::AbortedError("the life has ended"));
  }
}

void CutAgreement::Ask(const CutRequest& request, Answer answer) {
  if (request.life > life_) {
    std::move(answer)(absl::UnavailableError(absl::StrCat(
        "life ", request.life.value(), " has not begun here yet")));
    return;
  }
  if (request.life < life_ || !life_.is_set()) {
    std::move(answer)(absl::AbortedError(
        absl::StrCat("life ", request.life.value(), " has ended")));
    return;
  }
  if (request.rank >= waiting_.size()) {
    std::move(answer)(absl::InvalidArgumentError(
        absl::StrCat("rank ", request.rank, " of ", waiting_.size())));
    return;
  }
  if (last_ && Next(request.round) == round_) {
    std::move(answer)(*last_);
    return;
  }
  if (request.round < round_) {
    std::move(answer)(absl::AbortedError(
        absl::StrCat("round ", request.round.value(), " has begun")));
    return;
  }
  if (request.round > round_) {
    std::move(answer)(absl::UnavailableError(
        absl::StrCat("round ", request.round.value(), " is ahead")));
    return;
  }
  for (const auto& one : waiting_) {
    if (!one || one->stored_through.size() == request.stored_through.size()) {
      continue;
    }
    std::move(answer)(absl::InvalidArgumentError(
        "another number of fragments than that of other ranks"));
    return;
  }
  auto& place = waiting_[request.rank];
  auto older = std::exchange(
      place, Waiting{request.stored_through, request.stops, std::move(answer)});
  if (older) {
    std::move(older->answer)(absl::UnavailableError("asked again"));
  }
}

std::optional<std::vector<Sequence>> CutAgreement::Agreed() const {
  std::optional<std::vector<Sequence>> least;
  for (const auto& one : waiting_) {
    if (!one) return std::nullopt;
    if (!least) least = one->stored_through;
    for (size_t f = 0; f < least->size(); ++f) {
      (*least)[f] = std::min((*least)[f], one->stored_through[f]);
    }
  }
  return least;
}

bool CutAgreement::AllStop() const {
  return std::all_of(waiting_.begin(), waiting_.end(), [](const auto& one) {
    return one.has_value() && one->stops;
  });
}

void CutAgreement::Decide(const CutReply& reply) {
  SKERRY_CHECK(Agreed().has_value());
  auto waiting = std::exchange(waiting_, {});
  waiting_.resize(waiting.size());
  round_ = Next(round_);
  last_ = reply;
  for (auto& one : waiting) std::move(one->answer)(reply);
}

}  // namespace skerry::worker
