#include "tests/exhaustive/cut_model.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/hash.h"

namespace skerry::exhaustive {
namespace {

using worker::CutReply;
using worker::CutRequest;
using Act = CutStep::Act;

constexpr int kStepsMax = 500;
constexpr const char* kNames[] = {
    "store",  "hear",     "ask",           "question",    "decide",
    "answer", "new life", "lose question", "lose answer", "repeat"};

}  // namespace

bool CutModel::IsFault(const CutStep& step) {
  return step.act >= Act::kNewLife;
}

std::string CutModel::ToText(const CutStep& step) {
  return absl::StrCat(kNames[static_cast<int>(step.act)], " ", step.index);
}

CutModel::CutModel(const CutScenario& scenario, sim::Violations& found)
    : scenario_(scenario),
      found_(&found),
      left_(scenario),
      ranks_(scenario.ranks) {
  agreement_.Begin(life_, scenario.ranks);
}

CutModel::CutModel(const CutModel& other)
    : scenario_(other.scenario_),
      left_(other.scenario_),
      log_(other.log_),
      ranks_(other.scenario_.ranks) {
  // What it has found before is known.
  sim::Violations known;
  found_ = &known;
  agreement_.Begin(life_, scenario_.ranks);
  for (const CutStep& step : log_) Apply(step);
  found_ = other.found_;
}

// As a seat decides: not below what it has applied itself.
bool CutModel::CanDecide() const {
  const auto agreed = agreement_.Agreed();
  return agreed.has_value() && ranks_[0].life == life_ &&
         ranks_[0].asked.has_value() && agreed->front() >= ranks_[0].applied;
}

std::vector<CutStep> CutModel::Actions(bool with_faults) const {
  std::vector<CutStep> steps;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const Rank& rank = ranks_[i];
    if (rank.stored.value() < scenario_.commits) {
      steps.push_back({Act::kStore, i});
    }
    if (rank.life != life_) steps.push_back({Act::kHear, i});
    if (rank.round.value() <= scenario_.rounds &&
        (!rank.asked.has_value() || *rank.asked < rank.stored)) {
      steps.push_back({Act::kAsk, i});
    }
  }
  for (size_t i = 0; i < questions_.size(); ++i) {
    steps.push_back({Act::kQuestion, i});
  }
  for (size_t i = 0; i < answers_.size(); ++i) {
    steps.push_back({Act::kAnswer, i});
  }
  if (CanDecide()) steps.push_back({Act::kDecide});
  if (!with_faults) return steps;
  if (left_.lives > 0) steps.push_back({Act::kNewLife});
  for (size_t i = 0; i < questions_.size(); ++i) {
    if (left_.losses > 0) steps.push_back({Act::kLoseQuestion, i});
    if (left_.repeats > 0) steps.push_back({Act::kRepeat, i});
  }
  for (size_t i = 0; i < answers_.size() && left_.losses > 0; ++i) {
    steps.push_back({Act::kLoseAnswer, i});
  }
  return steps;
}

void CutModel::Do(const CutStep& step) {
  log_.push_back(step);
  Apply(step);
}

// Answers that nobody waits for any more, and questions that the head answers
// without taking note of them, change nothing.
void CutModel::Forget() {
  std::erase_if(answers_, [&](const Answer& one) {
    const Rank& rank = ranks_[one.rank];
    return rank.life != one.life || rank.round != one.round ||
           (rank.asked.has_value() && *rank.asked > one.asked);
  });
  std::erase_if(questions_, [&](const CutRequest& one) {
    const Rank& rank = ranks_[one.rank];
    return one.life < ranks_[0].life ||
           (rank.life == one.life && rank.round > one.round);
  });
}

void CutModel::Apply(const CutStep& step) {
  Happen(step);
  Forget();
}

void CutModel::Happen(const CutStep& step) {
  const auto index = static_cast<ptrdiff_t>(step.index);
  switch (step.act) {
    case Act::kStore:
      ranks_[step.index].stored = Next(ranks_[step.index].stored);
      return;
    case Act::kHear: {
      Rank& rank = ranks_[step.index];
      rank.life = life_;
      rank.round = Round(1);
      rank.runs = 1;
      rank.asked.reset();
      if (step.index > 0) return;
      decided_.clear();
      return agreement_.Begin(life_, scenario_.ranks);
    }
    case Act::kAsk:
      return Ask(static_cast<uint32_t>(step.index));
    case Act::kQuestion: {
      const CutRequest question = questions_[step.index];
      questions_.erase(questions_.begin() + index);
      return Arrive(question);
    }
    case Act::kDecide: {
      decided_.push_back(agreement_.Agreed()->front());
      CutReply reply{Epoch(1), {{0, decided_.back()}}, {}};
      const uint32_t left = ranks_[0].runs;
      const bool all_stop = agreement_.AllStop();
      reply.runs = left > 1 ? left - 1 : all_stop ? scenario_.points : 1;
      return agreement_.Decide(reply);
    }
    case Act::kAnswer: {
      const Answer answer = answers_[step.index];
      answers_.erase(answers_.begin() + index);
      return Take(answer);
    }
    case Act::kNewLife:
      --left_.lives;
      life_ = Next(life_);
      return;
    case Act::kLoseQuestion: {
      --left_.losses;
      const CutRequest lost = questions_[step.index];
      questions_.erase(questions_.begin() + index);
      answers_.push_back({lost.rank, lost.life, lost.round,
                          lost.stored_through.front(), std::nullopt});
      return;
    }
    case Act::kLoseAnswer:
      --left_.losses;
      answers_[step.index].cut.reset();
      return;
    case Act::kRepeat: {
      --left_.repeats;
      const CutRequest again = questions_[step.index];
      return Arrive(again);
    }
  }
}

void CutModel::Ask(uint32_t index) {
  Rank& rank = ranks_[index];
  rank.asked = rank.stored;
  const CutRequest question{
      rank.life, index, rank.round, {rank.stored}, Stops(index)};
  // The head asks itself.
  if (index == 0) return Arrive(question);
  questions_.push_back(question);
}

void CutModel::Arrive(const CutRequest& question) {
  waiting_.push_back(question);
  agreement_.Ask(question, [this, question](absl::StatusOr<CutReply> reply) {
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), question));
    Answer answer{question.rank, question.life, question.round,
                  question.stored_through.front(), std::nullopt};
    if (reply.ok()) {
      answer.cut = reply->cuts.front().sequence;
      answer.runs = reply->runs;
    }
    answers_.push_back(answer);
  });
}

// A8: all ranks run a round at one cut, and stop at the same points.
void CutModel::Take(const Answer& answer) {
  Rank& rank = ranks_[answer.rank];
  if (rank.life != answer.life || rank.round != answer.round ||
      rank.asked != answer.asked) {
    return;
  }
  rank.asked.reset();
  if (!answer.cut.has_value()) return;
  if (*answer.cut < rank.applied || *answer.cut > rank.stored) {
    found_->Add("A8: a cut that a rank cannot apply");
  }
  rank.applied = *answer.cut;
  const std::pair cut(*answer.cut, answer.runs);
  const auto [begun, first] =
      begun_.emplace(std::pair(rank.life, rank.round), cut);
  if (begun->second != cut) {
    found_->Add("A8: two cuts in one round");
  }
  if (answer.runs > 1 && !Stops(answer.rank)) {
    found_->Add("A8: a rank is to stop that cannot");
  }
  rank.runs = answer.runs;
  rank.round = Next(rank.round);
}

bool CutModel::IsDone() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
    return rank.life == life_ && rank.round.value() > scenario_.rounds;
  });
}

bool CutModel::RunsToItsEnd(std::vector<std::string>* way) {
  for (int step = 0; step < kStepsMax && !IsDone(); ++step) {
    if (found_->count() > 0) return false;
    const std::vector<CutStep> steps = Actions(false);
    if (steps.empty()) return false;
    // In no order, so that each has its turn.
    const CutStep next =
        steps[CombineHash(0, static_cast<uint64_t>(step)) % steps.size()];
    way->push_back(ToText(next));
    Do(next);
  }
  return IsDone();
}

uint64_t CutModel::Hash() const {
  uint64_t hash = life_.value();
  const auto add = [&hash](uint64_t value) { hash = CombineHash(hash, value); };
  for (const int left : {left_.lives, left_.losses, left_.repeats}) {
    add(static_cast<uint64_t>(left));
  }
  for (const Rank& rank : ranks_) {
    add(rank.life.value());
    add(rank.round.value());
    add(rank.stored.value());
    add(rank.applied.value());
    add(rank.asked.has_value() ? 1 + rank.asked->value() : 0);
    add(rank.runs);
  }
  for (const Sequence cut : decided_) add(100 + cut.value());
  add(agreement_.AllStop() ? 1 : 0);
  // In no order.
  uint64_t on_way = 0;
  for (const auto* questions : {&questions_, &waiting_}) {
    const uint64_t where = questions == &waiting_ ? 10'000 : 0;
    for (const CutRequest& one : *questions) {
      on_way +=
          CombineHash(CombineHash(one.life.value(), one.round.value()),
                      where + 100 * one.rank + one.stored_through[0].value());
    }
  }
  for (const Answer& one : answers_) {
    const uint64_t cut = one.cut.has_value() ? 1 + one.cut->value() : 0;
    on_way += CombineHash(
        CombineHash(CombineHash(one.life.value(), one.round.value()), cut),
        10'000 * one.runs + 1000 + 100 * one.rank + one.asked.value());
  }
  add(on_way);
  const auto agreed = agreement_.Agreed();
  add(agreed.has_value() ? 1 + agreed->front().value() : 0);
  for (const auto& [round, cut] : begun_) {
    add(CombineHash(round.first.value(), round.second.value()));
    add(CombineHash(cut.first.value(), cut.second));
  }
  return hash;
}

}  // namespace skerry::exhaustive
