#include "tests/exhaustive/frame_model.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"

namespace skerry::exhaustive {
namespace {

using protocol::FrameVerdict;
using protocol::Member;
using protocol::OpenExchange;
using protocol::SpanHolder;
using Act = FrameStep::Act;

// As the journal would number them.
constexpr uint64_t kFirstAttempt = 10;
constexpr int kStepsMax = 2000;

}  // namespace

FrameModel::FrameModel(const FrameScenario& scenario, sim::Violations& found)
    : scenario_(scenario), found_(&found), left_(scenario.budget) {
  Start();
}

FrameModel::FrameModel(const FrameModel& other)
    : scenario_(other.scenario_),
      left_(other.scenario_.budget),
      log_(other.log_) {
  // What it has found before is known.
  sim::Violations known;
  found_ = &known;
  Start();
  for (const FrameStep& step : log_) Apply(step);
  found_ = other.found_;
}

void FrameModel::Start() {
  job_.settings.outer = *optimizer::OuterPreset("local_sgd");
  job_.settings.codec = *compression::ParseCodecName(scenario_.codec);
  job_.settings.beta = 1;
  job_.settings.samples = 1000;
  job_.settings.spans = static_cast<uint32_t>(scenario_.spans.size());
  uint64_t elements = 0;
  for (const uint64_t size : scenario_.spans) {
    job_.layout.spans.push_back({elements, elements + size});
    elements += size;
  }
  peers_ = [this](const std::string& name,
                  const worker::PieceKey& key) -> absl::StatusOr<SharedBytes> {
    const Host& host = hosts_[IndexOf(name)];
    if (!IsUp(IndexOf(name))) return absl::UnavailableError("it is down");
    return host.worker->Find(key);
  };
  for (size_t i = 0; i < scenario_.places.size(); ++i) {
    const FrameScenario::Place& place = scenario_.places[i];
    Host& host = hosts_.emplace_back();
    host.worker = std::make_unique<FrameWorker>(job_, absl::StrCat("w", i),
                                                place.begin, place.end, peers_);
    std::vector<float> delta(elements);
    for (size_t e = 0; e < elements; ++e) {
      delta[e] = 0.001f * static_cast<float>((7 * e + 13 * place.replica) % 97);
    }
    host.worker->Prepare(
        Life(place.replica + 1),
        data::RangeSet(data::SampleRange{place.replica, place.replica + 1}),
        delta);
    for (uint32_t span = place.begin; span < place.end; ++span) {
      host.owed.push_back(host.worker->fragment().OwedOf(span));
    }
  }
  Open(std::nullopt);
}

FrameModel::Key FrameModel::KeyOf(const OnWay& one) {
  const compression::FrameHeader& header = one.frame.header;
  return {header.attempt, static_cast<int>(header.kind),
          one.from,       one.frame.to,
          header.span,    header.part};
}

size_t FrameModel::IndexOf(const std::string& name) const {
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (hosts_[i].worker->name() == name) return i;
  }
  SKERRY_CHECK(false);
}

bool FrameModel::IsMember(const OpenExchange& open, uint32_t replica) const {
  return std::any_of(
      open.members.begin(), open.members.end(),
      [&](const Member& member) { return member.life == Life(replica + 1); });
}

std::vector<SpanHolder> FrameModel::HoldersOf(uint32_t replica) const {
  std::vector<SpanHolder> holders;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    const FrameScenario::Place& place = scenario_.places[i];
    if (place.replica != replica) continue;
    const std::string& name = hosts_[i].worker->name();
    holders.push_back({place.begin, place.end, {name, name, name}});
  }
  return holders;
}

Member FrameModel::MemberOf(uint32_t replica) const {
  Member member;
  member.replica = ReplicaId(replica + 1);
  member.life = Life(replica + 1);
  member.codec = job_.settings.codec;
  member.holders = HoldersOf(replica);
  const size_t head = IndexOf(member.holders.front().peer.worker);
  member.contribution = *hosts_[head].worker->fragment().book().pending();
  return member;
}

// With the owners moved on by one each time, as the coordinator does.
void FrameModel::Open(std::optional<uint32_t> without) {
  OpenExchange open;
  open.sequence = Sequence(1);
  open.attempt = Attempt(kFirstAttempt + attempts_.size());
  open.hops = scenario_.hops;
  for (uint32_t replica = 0; replica < replicas(); ++replica) {
    if (replica == without || !IsAlive(replica)) continue;
    open.members.push_back(MemberOf(replica));
    open.total_weight += open.members.back().contribution.weight;
  }
  for (uint32_t span = 0; span < scenario_.spans.size(); ++span) {
    open.owners.push_back(
        static_cast<uint32_t>((span + attempts_.size()) % open.members.size()));
  }
  attempts_.push_back(std::move(open));
}

bool FrameModel::HasStored(size_t host, Attempt attempt) const {
  const auto facts = hosts_[host].worker->fragment().Facts(true);
  return facts.stored.has_value() && facts.stored->attempt == attempt;
}

std::pair<size_t, size_t> FrameModel::ReportsOf(uint32_t span) const {
  size_t reported = 0;
  size_t missing = 0;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    const FrameScenario::Place& place = scenario_.places[i];
    if (span < place.begin || span >= place.end || !IsAlive(place.replica) ||
        !IsMember(attempts_.back(), place.replica)) {
      continue;
    }
    (HasStored(i, attempts_.back().attempt) ? reported : missing) += 1;
  }
  return {reported, missing};
}

bool FrameModel::CanCommit(bool by_majority) const {
  if (committed_.has_value()) return false;
  for (uint32_t span = 0; span < scenario_.spans.size(); ++span) {
    const auto [reported, missing] = ReportsOf(span);
    if (reported == 0) return false;
    if (missing > 0 &&
        (!by_majority || 2 * reported <= attempts_.back().members.size())) {
      return false;
    }
  }
  return true;
}

void FrameModel::Commit() {
  const OpenExchange& open = attempts_.back();
  protocol::CommittedEntry entry;
  entry.sequence = open.sequence;
  entry.attempt = open.attempt;
  entry.total_weight = open.total_weight;
  entry.samples_committed = open.members.size();
  entry.hashes.resize(scenario_.spans.size());
  for (size_t i = 0; i < hosts_.size(); ++i) {
    if (!IsUp(i) || !HasStored(i, open.attempt)) continue;
    const auto facts = hosts_[i].worker->fragment().Facts(true);
    for (size_t k = 0; k < facts.stored->hashes.size(); ++k) {
      uint64_t& hash = entry.hashes[scenario_.places[i].begin + k];
      if (hash != 0 && hash != facts.stored->hashes[k]) {
        Break("A2: members of one attempt have different results");
      }
      hash = facts.stored->hashes[k];
    }
  }
  committed_ = std::move(entry);
}

protocol::FragmentOrders FrameModel::OrdersFor(size_t host) const {
  const uint32_t replica = scenario_.places[host].replica;
  protocol::FragmentOrders orders;
  protocol::Outcome outcome;
  outcome.round = Round(1);
  if (committed_.has_value()) {
    orders.newest = committed_->sequence;
    orders.committed.push_back(*committed_);
    if (IsMember(attempts_.back(), replica)) {
      outcome.kind = protocol::Outcome::Kind::kCommitted;
      outcome.attempt = committed_->attempt;
      outcome.sequence = committed_->sequence;
    }
  } else if (IsMember(attempts_.back(), replica)) {
    orders.open = attempts_.back();
  }
  orders.outcome = outcome;
  return orders;
}

void FrameModel::Do(const FrameStep& step) {
  log_.push_back(step);
  Apply(step);
  Check();
}

void FrameModel::Apply(const FrameStep& step) {
  switch (step.act) {
    case Act::kFrame: {
      OnWay one = std::move(on_way_[step.index]);
      on_way_.erase(on_way_.begin() + static_cast<ptrdiff_t>(step.index));
      Take(std::move(one), /*again=*/false);
      break;
    }
    case Act::kAgain:
      --left_.repeats;
      Take(past_[step.index], /*again=*/true);
      break;
    case Act::kWork:
      hosts_[step.index].worker->Run(step.at);
      break;
    case Act::kHear: {
      Host& host = hosts_[step.index];
      host.heard = attempts_.size() + (committed_.has_value() ? 1 : 0);
      const protocol::FragmentOrders orders = OrdersFor(step.index);
      if (orders.open.has_value() && orders.open->attempt != host.attempt) {
        host.attempt = orders.open->attempt;
        host.taken.clear();
      }
      host.worker->Hear(orders,
                        HoldersOf(scenario_.places[step.index].replica));
      break;
    }
    case Act::kWait:
      hosts_[step.index].worker->Wait();
      break;
    case Act::kReopen:
      left_.reopens -= left_.reopens > 0 ? 1 : 0;
      Open(static_cast<uint32_t>(step.index));
      break;
    case Act::kCommit:
      left_.majorities -= step.at > 0 ? 1 : 0;
      Commit();
      break;
    case Act::kKill:
      --left_.kills;
      dead_.insert(static_cast<uint32_t>(step.index));
      break;
  }
  for (const Host& host : hosts_) {
    while (!scenario_.slow_work && !host.worker->Work().empty()) {
      host.worker->Run(0);
    }
    for (SentFrame& frame : host.worker->TakeSent()) {
      on_way_.push_back({host.worker->name(), std::move(frame)});
    }
  }
}

// PROTOCOL 1: by attempt, and nothing else.
void FrameModel::Take(OnWay one, bool again) {
  const size_t to = IndexOf(one.frame.to);
  const Attempt attempt(one.frame.header.attempt);
  const Attempt heard = hosts_[to].attempt;
  const FrameVerdict answer = hosts_[to].worker->Take(one.frame);
  if (attempt != heard) {
    const FrameVerdict right =
        attempt > heard ? FrameVerdict::kNotYet : FrameVerdict::kRefused;
    if (answer != right) Break("a frame of another attempt is not refused");
    // The network may keep it, and bring it again.
    if (!again) on_way_.push_back(std::move(one));
    return;
  }
  if (answer != FrameVerdict::kAccepted) {
    Break("a frame of the attempt is refused");
  }
  hosts_[to].taken.insert(KeyOf(one));
  if (!again) past_.push_back(std::move(one));
}

bool FrameModel::IsDone() const {
  if (!committed_.has_value()) return false;
  for (size_t i = 0; i < hosts_.size(); ++i) {
    const uint32_t replica = scenario_.places[i].replica;
    if (!IsAlive(replica) || !IsMember(attempts_.back(), replica)) continue;
    const worker::SeatFragment& fragment = hosts_[i].worker->fragment();
    if (fragment.Waits() || fragment.recovery().applied() != Sequence(1)) {
      return false;
    }
  }
  return true;
}

bool FrameModel::RunsToItsEnd(std::vector<std::string>* way) {
  for (int step = 0; step < kStepsMax && !IsDone(); ++step) {
    if (found_->count() > 0) return false;
    const std::vector<FrameStep> steps = Actions(false);
    if (steps.empty()) return false;
    // In no order, so that each has its turn.
    const FrameStep next =
        steps[CombineHash(0, static_cast<uint64_t>(step)) % steps.size()];
    way->push_back(ToText(next));
    Do(next);
  }
  return IsDone();
}

}  // namespace skerry::exhaustive
