// Rounds and attempts of the model's workers (PROTOCOL 4.2, 4.3).
#include <algorithm>

#include "base/check.h"
#include "tests/exhaustive/hashes.h"
#include "tests/exhaustive/model.h"

namespace skerry::exhaustive {

using protocol::Member;
using protocol::OpenExchange;
using protocol::SpanHolder;

// By rank; empty while one of them is away or in another life.
std::vector<size_t> Model::ReplicaOf(size_t index) const {
  std::vector<size_t> members;
  const Seat& own = workers_[index].seat;
  for (const SpanHolder& holder : own.orders.holders) {
    const WorkerState* one = Find(holder.peer.worker);
    if (one == nullptr || !one->alive || one->seat.life != own.life) return {};
    members.push_back(static_cast<size_t>(one - workers_.data()));
  }
  return members;
}

// Through the newest that all of the replica's workers can have stored. False
// while they cannot go on to what they have a part in.
bool Model::AddCuts(const std::vector<size_t>& members, Cut& cut) const {
  const Seat& head = workers_[members[0]].seat;
  for (uint32_t f = 0; f < scenario_.fragments; ++f) {
    if (!head.parts[f].trained.empty()) continue;
    Sequence least(~uint64_t{0});
    Sequence most;
    for (const size_t i : members) {
      const Seat& seat = workers_[i].seat;
      const Sequence applied = *seat.Applied(f);
      Sequence reach = applied;
      while (Foldable(workers_[i], f, reach) != nullptr) reach = Next(reach);
      least = std::min(least, reach);
      most = std::max({most, applied, seat.parts[f].outcome});
    }
    const bool is_first = head.newest == skerry::Round();
    if (least < most || (is_first && least < head.orders.fragments[f].newest)) {
      return false;
    }
    cut.through[f] = least;
  }
  return true;
}

std::optional<uint32_t> Model::Delivers(const Seat& head, bool awaits) const {
  const bool all = head.orders.nothing_left &&
                   head.orders.granted.Subtract(head.used).empty();
  for (uint32_t f = 0; f < head.parts.size(); ++f) {
    const Part& part = head.parts[f];
    if (part.trained.empty() || part.ready.has_value()) continue;
    if (all || (awaits && head.orders.fragments[f].wanted)) return f;
  }
  return std::nullopt;
}

// The boundary of PROTOCOL 4.2 of all workers of a replica, asked of its head.
std::optional<Model::Cut> Model::NextCut(size_t index) const {
  const Seat& head = workers_[index].seat;
  if (!head.life.is_set() || head.resting) return std::nullopt;
  const std::vector<size_t> members = ReplicaOf(index);
  if (members.empty() || members[0] != index) return std::nullopt;
  for (const size_t i : members) {
    const Seat& seat = workers_[i].seat;
    if (seat.running.has_value() || seat.resting || !seat.HasState() ||
        seat.newest != head.newest) {
      return std::nullopt;
    }
  }
  const bool awaits =
      std::any_of(members.begin(), members.end(), [&](size_t i) {
        const std::vector<Part>& parts = workers_[i].seat.parts;
        return std::any_of(parts.begin(), parts.end(), [](const Part& part) {
          return part.at_boundary && part.ready.has_value();
        });
      });
  Cut cut;
  const bool moves = !awaits && AddCuts(members, cut);
  if (moves) {
    data::RangeSet fresh = head.orders.granted.Subtract(head.used);
    cut.ranges = fresh.TakeFirst(members.size());
  }
  if (cut.ranges.empty()) {
    if (const auto turn = Delivers(head, awaits)) {
      return Cut{{}, {}, *turn, /*deliver=*/true};
    }
    const bool applies =
        moves && std::any_of(cut.through.begin(), cut.through.end(),
                             [&](const auto& one) {
                               return *head.Applied(one.first) < one.second;
                             });
    if (!applies) return std::nullopt;
  }
  uint64_t least = ~uint64_t{0};
  for (uint32_t f = 0; f < head.parts.size(); ++f) {
    const uint64_t reached = head.orders.fragments[f].newest.value() +
                             (head.parts[f].ready.has_value() ? 1 : 0);
    if (reached >= least) continue;
    least = reached;
    cut.turn = f;
  }
  return cut;
}

void Model::Begin(size_t head) {
  const Cut cut = *NextCut(head);
  for (const size_t i : ReplicaOf(head)) {
    WorkerState& worker = workers_[i];
    Seat& seat = worker.seat;
    seat.newest = Next(seat.newest);
    for (const auto& [fragment, through] : cut.through) {
      while (*seat.Applied(fragment) < through) FoldOne(worker, fragment);
      seat.parts[fragment].at_boundary = false;
    }
    // It has only caught up.
    if (cut.ranges.empty() && !cut.deliver) continue;
    seat.used = seat.used.Union(cut.ranges);
    for (Part& part : seat.parts) part.trained = part.trained.Union(cut.ranges);
    seat.running = RunningRound{seat.newest, cut.turn};
    // Nobody could tell the difference.
    if (cut.deliver || worker.told == SaysHash(worker)) Finish(worker);
  }
}

void Model::Finish(WorkerState& worker) {
  Seat& seat = worker.seat;
  const RunningRound round = *std::exchange(seat.running, std::nullopt);
  Part& part = seat.parts[round.turn];
  protocol::Contribution ready;
  ready.round = round.number;
  ready.base = *seat.Applied(round.turn);
  ready.ranges = std::exchange(part.trained, data::RangeSet());
  ready.weight = static_cast<double>(ready.ranges.total());
  part.ready = std::move(ready);
  part.at_boundary = true;
}

// The open attempt, if it names what the worker owes.
const OpenExchange* Model::NamedIn(const WorkerState& worker,
                                   uint32_t fragment) const {
  const Seat& seat = worker.seat;
  if (fragment >= seat.orders.fragments.size() ||
      !seat.parts[fragment].ready.has_value()) {
    return nullptr;
  }
  const auto& open = seat.orders.fragments[fragment].open;
  if (!open.has_value()) return nullptr;
  for (const Member& member : open->members) {
    if (member.life == seat.life &&
        member.contribution.round == seat.parts[fragment].ready->round) {
      return &*open;
    }
  }
  return nullptr;
}

// In two hops contributions go to the owners, and results come from them; in
// one, contributions go to everyone.
std::vector<Model::Frame> Model::FramesTo(size_t to,
                                          const OpenExchange& open) const {
  std::set<Frame> frames;
  const Seat& seat = workers_[to].seat;
  for (uint32_t m = 0; m < open.members.size(); ++m) {
    if (open.members[m].life == seat.life) continue;
    for (const SpanHolder& holder : open.members[m].holders) {
      const auto from =
          static_cast<size_t>(Find(holder.peer.worker) - workers_.data());
      const uint32_t begin = std::max(holder.span_begin, seat.begin);
      const uint32_t end = std::min(holder.span_end, seat.end);
      for (uint32_t span = begin; span < end; ++span) {
        const Member& owner = open.members[open.owners[span]];
        if (open.hops == protocol::Hops::kOne || owner.life == seat.life) {
          frames.insert({open.attempt.value(), false, from, to});
        } else if (open.owners[span] == m) {
          frames.insert({open.attempt.value(), true, from, to});
        }
      }
    }
  }
  return {frames.begin(), frames.end()};
}

bool Model::HasAll(size_t to, const OpenExchange& open, bool results) const {
  const std::vector<Frame> needed = FramesTo(to, open);
  return std::all_of(needed.begin(), needed.end(), [&](const Frame& frame) {
    return frame.is_result != results || frames_.contains(frame);
  });
}

bool Model::IsSent(const Frame& frame, uint32_t fragment) const {
  const WorkerState& from = workers_[frame.from];
  if (!from.alive) return false;
  const OpenExchange* open = NamedIn(from, fragment);
  return open != nullptr && open->attempt.value() == frame.attempt &&
         (!frame.is_result || HasAll(frame.from, *open, false));
}

bool Model::CanStore(size_t index, uint32_t fragment) const {
  const OpenExchange* open = NamedIn(workers_[index], fragment);
  const auto& stored = workers_[index].seat.parts[fragment].stored;
  return open != nullptr &&
         (!stored.has_value() || stored->attempt != open->attempt) &&
         HasAll(index, *open, false) && HasAll(index, *open, true);
}

void Model::Arrive(const Action& action) {
  const OpenExchange* open = NamedIn(workers_[action.at], action.fragment);
  frames_.insert(
      {open->attempt.value(), action.is_result, action.worker, action.at});
}

// All that can be, to whoever waits for it.
void Model::SendAll() {
  for (bool more = true; std::exchange(more, false);) {
    for (size_t to = 0; to < workers_.size(); ++to) {
      for (uint32_t f = 0; f < scenario_.fragments; ++f) {
        if (!workers_[to].alive) continue;
        const OpenExchange* open = NamedIn(workers_[to], f);
        if (open == nullptr) continue;
        for (const Frame& frame : FramesTo(to, *open)) {
          if (IsSent(frame, f)) more |= frames_.insert(frame).second;
        }
      }
    }
  }
}

void Model::AddProgress(const WorkerState& worker, uint32_t fragment,
                        protocol::FragmentFacts& facts) const {
  const OpenExchange* open = NamedIn(worker, fragment);
  if (open == nullptr) return;
  const auto index = static_cast<size_t>(&worker - workers_.data());
  for (const Member& member : open->members) {
    protocol::Progress progress{member.replica, 0, 0};
    for (const Frame& frame : FramesTo(index, *open)) {
      const std::string& from = workers_[frame.from].name;
      if (std::none_of(member.holders.begin(), member.holders.end(),
                       [&](const SpanHolder& holder) {
                         return holder.peer.worker == from;
                       })) {
        continue;
      }
      ++progress.bytes_expected;
      if (frames_.contains(frame)) ++progress.bytes;
    }
    if (progress.bytes_expected > 0) facts.progress.push_back(progress);
  }
}

void Model::Store(WorkerState& worker, uint32_t fragment, bool lies) {
  Seat& seat = worker.seat;
  const OpenExchange& open = *seat.orders.fragments[fragment].open;
  protocol::StoredResult stored{open.sequence, open.attempt, {}, 1.0};
  for (uint32_t span = seat.begin; span < seat.end; ++span) {
    const uint64_t sum = ResultHash(open.attempt, open.members, span);
    const uint64_t hash = lies ? WrongHash(sum) : sum;
    stored.hashes.push_back(hash);
    worker.disk.results[{fragment, open.sequence.value(), open.attempt.value(),
                         span}] = hash;
  }
  seat.parts[fragment].stored = std::move(stored);
}

// All of it or nothing; what is on nobody's disk any more cannot be saved.
void Model::Save(WorkerState& worker) {
  const protocol::CheckpointOrder& order = *worker.seat.orders.checkpoint;
  const std::vector<Sequence> at = history_.SequencesAt(order.sequence);
  protocol::CheckpointFact fact;
  fact.sequence = order.sequence;
  History::Saved state;
  state.anchors.resize(scenario_.fragments);
  size_t found = 0;
  for (uint32_t piece = 0; piece < order.pieces.size(); ++piece) {
    const uint32_t f = piece / scenario_.spans;
    const uint32_t span = piece % scenario_.spans;
    for (const std::string& name : order.pieces[piece].workers) {
      const WorkerState* holder = Find(name);
      if (holder == nullptr || !holder->alive) continue;
      const auto base = holder->disk.bases.find({f, at[f].value(), span});
      if (base == holder->disk.bases.end() ||
          base->second != order.pieces[piece].hash) {
        continue;
      }
      if (base->second != history_.AnchorAt(f, at[f], span)) {
        Break("a state is saved that is no state of the history");
      }
      state.anchors[f].push_back(base->second);
      ++found;
      break;
    }
  }
  if (found == size_t{scenario_.spans} * scenario_.fragments) {
    history_.OnSaved(order.sequence, std::move(state));
    fact.sha256 = std::string(64, 'b');
    fact.bytes = 1;
  } else {
    fact.error = "nobody has all of it";
  }
  worker.seat.saved = std::move(fact);
}

}  // namespace skerry::exhaustive
