#include "tests/sim/check/owed.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "worker/core/result_piece.h"

namespace skerry::sim {
namespace {

// How far a value may be off after one encoding, as a share of the largest;
// empty for codecs that promise nothing of single values.
std::optional<double> ErrorOf(compression::CodecId codec) {
  using compression::CodecId;
  if (codec == CodecId::kRawF32) return 1e-5;
  if (codec == CodecId::kBf16) return 1.0 / 128;
  if (codec == CodecId::kInt8Block) return 1.0 / 100;
  if (codec == CodecId::kNf4) return 0.2;
  return std::nullopt;
}

double Largest(const std::vector<float>& values) {
  double largest = 0;
  for (const float value : values) {
    largest = std::max(largest, std::abs(static_cast<double>(value)));
  }
  return largest;
}

}  // namespace

void OwedChecker::OnDurable(const coordinator::Entry& entry) {
  if (entry.index <= lost_end_) ForgetLife(Life(entry.index.value()));
  last_ = entry.index;
  if (const auto* open = std::get_if<coordinator::Opened>(&entry.record)) {
    if (open->members.empty()) return;
    const Attempt attempt(entry.index.value());
    attempts_[attempt] = *open;
    for (const protocol::Member& member : open->members) {
      balances_[attempt].holders += member.holders.size();
    }
  } else if (const auto* commit =
                 std::get_if<coordinator::Committed>(&entry.record)) {
    for (const auto& member : attempts_[commit->attempt].members) {
      committed_[{commit->job, member.life, member.contribution.round}] =
          commit->attempt;
    }
  } else if (const auto* drop =
                 std::get_if<coordinator::Dropped>(&entry.record)) {
    dropped_.insert({drop->job, drop->life, drop->round});
  }
}

// The number is given again, and somebody who has not spoken yet may have it.
void OwedChecker::ForgetLife(Life life) {
  std::erase_if(offered_, [life](const auto& one) {
    return std::get<Life>(one.first) == life;
  });
  std::erase_if(committed_, [life](const auto& one) {
    return std::get<Life>(one.first) == life;
  });
  std::erase_if(dropped_, [life](const auto& one) {
    return std::get<Life>(one) == life;
  });
}

// Numbers that nobody has shown may be given again.
void OwedChecker::OnJournalReplaced(Revision last) {
  lost_end_ = std::max(lost_end_, last_);
  const uint64_t end = last.value();
  for (const auto& [attempt, opened] : attempts_) {
    if (attempt.value() > end) lost_.insert(attempt);
  }
  std::erase_if(attempts_,
                [end](const auto& one) { return one.first.value() > end; });
  std::erase_if(balances_,
                [end](const auto& one) { return one.first.value() > end; });
  std::erase_if(offered_, [end](const auto& one) {
    return std::get<Life>(one.first).value() > end;
  });
  std::erase_if(committed_, [end](const auto& one) {
    return std::get<Life>(one.first).value() > end || one.second.value() > end;
  });
  std::erase_if(dropped_, [end](const auto& one) {
    return std::get<Life>(one).value() > end;
  });
}

void OwedChecker::OnSeat(const SeatSight& sight) {
  for (uint32_t f = 0; f < sight.facts.fragments.size(); ++f) {
    OnFragment({sight, f});
  }
}

void OwedChecker::OnFragment(const FragmentSight& sight) {
  const protocol::FragmentFacts& facts = sight.facts();
  CheckBalance(sight);
  Seen& seen =
      seen_[{sight.seat.host, sight.seat.run, sight.job().job, sight.index}];
  CheckStart(sight, seen);
  Settle(sight, seen);
  if (facts.ready.has_value() && sight.job().life.is_set()) Offer(sight);
  if (!facts.stored.has_value() ||
      std::exchange(seen.stored, facts.stored->attempt) ==
          facts.stored->attempt) {
    return;
  }
  for (uint32_t i = 0; i < facts.stored->hashes.size(); ++i) {
    CheckMean(sight, facts.span_begin + i, facts.stored->hashes[i]);
  }
}

void OwedChecker::CheckBalance(const FragmentSight& sight) {
  const worker::Audit audit = sight.seat.seat.GetAudit(sight.index);
  const double rest = audit.produced - audit.taken - audit.lost - audit.owed;
  const double scale = 1 + std::abs(audit.produced) + std::abs(audit.taken);
  if (!(std::abs(rest) <= 1e-4 * scale)) {
    out_.Add(absl::StrCat("owed: worker ", sight.seat.host, " is off by ", rest,
                          " of ", audit.produced));
  }
}

// What a former life produced and did not bring into the model is lost.
void OwedChecker::CheckStart(const FragmentSight& sight, Seen& seen) {
  const protocol::FragmentFacts& facts = sight.facts();
  if (std::exchange(seen.life, sight.job().life) == sight.job().life ||
      !sight.job().life.is_set()) {
    return;
  }
  seen.ready.reset();
  if (!facts.ready.has_value() && facts.owed_norm != 0) {
    out_.Add(absl::StrCat("owed: worker ", sight.seat.host, " begins life ",
                          sight.job().life.value(), " owing ",
                          facts.owed_norm));
  }
}

// When a pending contribution is no longer pending, what was taken from owed
// was taken by the attempt in which it was committed.
void OwedChecker::Settle(const FragmentSight& sight, Seen& seen) {
  const protocol::FragmentFacts& facts = sight.facts();
  const double taken = sight.seat.seat.GetAudit(sight.index).taken;
  const double change = taken - std::exchange(seen.taken, taken);
  std::optional<Round> ready;
  if (facts.ready.has_value()) ready = facts.ready->round;
  const std::optional<Round> before = std::exchange(seen.ready, ready);
  if (!before.has_value() || before == ready) return;
  // Its samples are trained on again.
  if (dropped_.contains({sight.job().job, sight.job().life, *before}) &&
      !ready.has_value() && facts.owed_norm != 0) {
    out_.Add(absl::StrCat("owed: worker ", sight.seat.host, " owes ",
                          facts.owed_norm, " after round ", before->value(),
                          " of life ", sight.job().life.value(),
                          " was dropped"));
  }
  const auto attempt =
      committed_.find({sight.job().job, sight.job().life, *before});
  if (attempt == committed_.end()) return;
  Balance& balance = balances_[attempt->second];
  ++balance.settled;
  balance.taken += change;
  CheckCommit(attempt->second);
}

void OwedChecker::CheckCommit(Attempt attempt) {
  const coordinator::Opened& open = attempts_[attempt];
  const Balance& balance = balances_[attempt];
  if (balance.settled != balance.holders ||
      balance.decoded.size() != open.owners.size()) {
    return;
  }
  double decoded = 0;
  for (const auto& [span, sum] : balance.decoded) decoded += sum;
  const double off = balance.taken - decoded;
  if (std::abs(off) > 1e-4 * (1 + balance.offered)) {
    out_.Add(absl::StrCat("owed: attempt ", attempt.value(), " took ",
                          balance.taken, " from its members and brought ",
                          decoded, " into the model"));
  }
}

// Remembers a new contribution, or compares it with what was remembered.
void OwedChecker::Offer(const FragmentSight& sight) {
  const protocol::FragmentFacts& facts = sight.facts();
  for (uint32_t span = facts.span_begin;; ++span) {
    const worker::Values owed = sight.seat.seat.OwedOf(span, sight.index);
    if (owed == nullptr) return;
    const auto [it, fresh] = offered_.emplace(
        std::tuple(sight.job().job, sight.job().life, facts.ready->round, span),
        owed);
    if (!fresh && it->second != owed && *it->second != *owed) {
      out_.Add(absl::StrCat("owed: worker ", sight.seat.host, " round ",
                            facts.ready->round.value(), " of life ",
                            sight.job().life.value(), " span ", span,
                            " changed before its outcome"));
      it->second = owed;
    }
  }
}

void OwedChecker::CheckMean(const FragmentSight& sight, uint32_t span,
                            uint64_t hash) {
  const protocol::FragmentFacts& facts = sight.facts();
  const auto attempt = attempts_.find(facts.stored->attempt);
  // A worker may still end what the lost part of a journal had opened.
  if (attempt == attempts_.end() && lost_.contains(facts.stored->attempt)) {
    return;
  }
  if (attempt == attempts_.end()) {
    out_.Add(absl::StrCat("owed: worker ", sight.seat.host, " stored attempt ",
                          facts.stored->attempt.value(),
                          ", which was never opened"));
    return;
  }
  // Equal hashes are equal bytes.
  const std::tuple known(facts.stored->attempt, span, hash);
  if (means_.contains(known)) return;
  const coordinator::Opened& open = attempt->second;
  Balance& balance = balances_[facts.stored->attempt];
  std::vector<double> sum;
  double offered = 0;
  double allowed = 0;
  double largest_error = 0;
  bool exact = true;
  for (const protocol::Member& member : open.members) {
    const auto offer = offered_.find(
        {sight.job().job, member.life, member.contribution.round, span});
    const std::optional<double> error = ErrorOf(member.codec);
    const std::optional<double> result_error = ErrorOf(member.OfResults());
    if (offer == offered_.end()) return;
    sum.resize(offer->second->size());
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i] += (*offer->second)[i];
      offered += std::abs((*offer->second)[i]);
    }
    exact &= error.has_value() && result_error.has_value();
    allowed += error.value_or(0) * Largest(*offer->second);
    largest_error = std::max(largest_error, result_error.value_or(0));
  }
  const auto piece = sight.seat.seat.PieceOf(
      {worker::PieceKey::Kind::kResult, facts.stored->sequence,
       facts.stored->attempt, span, hash, sight.index});
  if (!piece.ok()) return;
  means_.insert(known);
  std::vector<float> mean(sum.size());
  if (!worker::DecodeMean(piece->bytes(), open.total_weight, mean).ok()) {
    out_.Add(absl::StrCat("owed: a stored piece of span ", span,
                          " cannot be decoded"));
    return;
  }
  double decoded = 0;
  for (const float value : mean) decoded += value * open.total_weight;
  if (balance.decoded.emplace(span, decoded).second) {
    balance.offered += offered;
    CheckCommit(facts.stored->attempt);
  }
  if (!exact) return;
  allowed = (allowed + 1e-6) / open.total_weight;
  allowed += largest_error * (Largest(mean) + allowed);
  for (size_t i = 0; i < sum.size(); ++i) {
    const double off = mean[i] - sum[i] / open.total_weight;
    if (std::abs(off) <= allowed) continue;
    out_.Add(absl::StrCat("owed: the result of attempt ",
                          facts.stored->attempt.value(), " span ", span,
                          " is off by ", off, ", allowed ", allowed,
                          "; it is not the mean of its members"));
    return;
  }
}

}  // namespace skerry::sim
