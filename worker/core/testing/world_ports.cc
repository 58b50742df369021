#include "worker/core/testing/world_ports.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/hash.h"

namespace skerry::worker {
namespace {

constexpr absl::Duration kResend = absl::Milliseconds(5);

std::string NameOf(const StoredFile& file) {
  return absl::StrCat(file.kind == PieceKey::Kind::kBase ? "b" : "r",
                      file.sequence.value(), "-", file.attempt.value(), "-",
                      file.pieces.front().span, "-", file.fragment, "-",
                      file.initial_hash);
}

}  // namespace

void World::Worker::Later(Token token, std::function<void()> task) {
  world.After(absl::Milliseconds(1),
              [weak = std::weak_ptr<char>(token), task = std::move(task)] {
                if (!weak.expired()) task();
              });
}

void World::Worker::StartTrainer() {
  trainer = std::make_shared<char>();
  loading.reset();
  inner = 0;
  in_group = false;
  const uint64_t count = world.options().element_count;
  shared = std::make_shared<std::vector<float>>(count);
  live.resize(count);
  const WorldOptions& options = world.options();
  for (uint64_t i = 0; i < count; ++i) {
    live[i] = InitialValue(i);
    if (options.own_initial) live[i] += static_cast<float>(index);
  }
  TrainerDescription description{count, 1000000, 1.0};
  description.validation_samples = 100;
  description.average_begin = options.average_begin;
  description.evaluates = options.evaluates;
  description.generates = options.generates;
  description.saves_inner = options.saves_inner;
  if (options.own_initial) description.initial_hash = World::InitialHash(index);
  Later(trainer, [this, description] {
    seat->OnTrainerReady(world.now(), description);
  });
}

void World::Worker::JoinGroup(const TrainerGroup& group,
                              Done<absl::Status> done) {
  loading.reset();
  in_group = true;
  Answer<absl::Status>(trainer, std::move(done), absl::OkStatus());
}

void World::Worker::StartRun(const data::RangeSet& ranges,
                             const data::RangeSet& next, uint64_t batch,
                             Done<absl::StatusOr<RunReport>> done) {
  ran = ranges;
  upcoming = next;
  auto shared_done =
      std::make_shared<Done<absl::StatusOr<RunReport>>>(std::move(done));
  auto ended = std::make_shared<bool>(false);
  cancel = [this, shared_done, ended] {
    if (std::exchange(*ended, true)) return;
    Answer<absl::StatusOr<RunReport>>(trainer, std::move(*shared_done),
                                      absl::AbortedError("cancelled"));
  };
  const auto took = absl::Milliseconds(20 + world.random().Below(40));
  world.After(took, [this, weak = std::weak_ptr<char>(trainer), ranges, batch,
                     shared_done, ended, took] {
    if (weak.expired() || std::exchange(*ended, true)) return;
    world.Train(replica, ranges, batch, live);
    ++inner;
    RunReport report;
    report.samples = ranges.total();
    report.inner_steps = (ranges.total() + batch - 1) / batch;
    report.no_loss = world.options().no_loss;
    report.loss = report.no_loss ? 0.0 : 1.0;
    report.metrics = {{"steps", static_cast<double>(report.inner_steps)}};
    report.compute_s = absl::ToDoubleSeconds(took);
    std::move (*shared_done)(world.now(), report);
  });
}

void World::Worker::Cancel() {
  if (cancel) std::exchange(cancel, nullptr)();
  if (loading) {
    loading.reset();
    std::exchange(loaded, nullptr)();
  }
}

void World::Worker::Snapshot(const ElementRange& range,
                             Done<absl::Status> done) {
  std::copy(live.begin() + range.begin, live.begin() + range.end,
            shared->begin() + range.begin);
  Answer<absl::Status>(trainer, std::move(done), absl::OkStatus());
}

// All ranks of a replica load together; the last to come lets all go on.
void World::Worker::Load(const ElementRange& range, Done<absl::Status> done) {
  auto shared_done = std::make_shared<Done<absl::Status>>(std::move(done));
  loading = range;
  loads.push_back(range);
  float& move = moves.emplace_back(0);
  for (uint64_t i = range.begin; i < range.end; ++i) {
    move = std::max(move, std::abs((*shared)[i] - live[i]));
  }
  loaded = [this, shared_done] {
    Answer<absl::Status>(
        trainer, std::move(*shared_done),
        loading ? absl::OkStatus() : absl::AbortedError("cancelled"));
    loading.reset();
  };
  const auto& ranks = world.replica(replica).workers;
  for (const uint32_t rank : ranks) {
    if (!world.worker(rank).loading) return;
  }
  for (const uint32_t from : ranks) {
    Worker& source = world.worker(from);
    for (const uint32_t to : ranks) {
      std::copy(source.shared->begin() + source.loading->begin,
                source.shared->begin() + source.loading->end,
                world.worker(to).live.begin() + source.loading->begin);
    }
  }
  for (const uint32_t rank : ranks) {
    std::exchange(world.worker(rank).loaded, nullptr)();
  }
}

void World::Worker::SaveInner(const InnerLabel& label,
                              Done<absl::Status> done) {
  ++inner_saves;
  auto shared_done = std::make_shared<Done<absl::Status>>(std::move(done));
  world.After(world.options().inner_takes,
              [this, weak = std::weak_ptr<char>(trainer), label, shared_done] {
                if (weak.expired()) return;
                saved_inner = {label, inner};
                std::move (*shared_done)(world.now(), absl::OkStatus());
              });
}

void World::Worker::LoadInner(uint64_t layout_hash,
                              Done<absl::StatusOr<InnerProgress>> done) {
  joined_before_load |= in_group;
  absl::StatusOr<InnerProgress> report =
      absl::NotFoundError("this worker has saved none");
  if (!inner_load.ok()) {
    report = inner_load;
  } else if (saved_inner) {
    inner = saved_inner->second;
    report = InnerProgress{saved_inner->first.sequence, inner};
  }
  Answer<absl::StatusOr<InnerProgress>>(trainer, std::move(done), report);
}

void World::Worker::Evaluate(uint64_t samples_max,
                             Done<absl::StatusOr<EvaluationReport>> done) {
  // The hash of what was evaluated, so that a test knows it was the anchor.
  const double mark = static_cast<double>(Hash64Of<float>(live) >> 12);
  Answer<absl::StatusOr<EvaluationReport>>(trainer, std::move(done),
                                           EvaluationReport{mark, samples_max});
}

void World::Worker::Generate(const GenerateRequest& request,
                             Done<absl::StatusOr<std::string>> done) {
  Answer<absl::StatusOr<std::string>>(trainer, std::move(done),
                                      request.prompt + "!");
}

void World::Worker::Restart(const absl::Status& why) {
  trainer = std::make_shared<char>();
  Later(alive, [this, reason = std::string(why.message())] {
    seat->OnTrainerFailed(world.now(), reason);
    StartTrainer();
  });
}

void World::Worker::SendFrame(const std::string& to,
                              const compression::FrameHeader& header,
                              const SharedBytes& payload) {
  world.Deliver(index, to, header, payload);
}

void World::Deliver(uint32_t from, const std::string& name,
                    const compression::FrameHeader& header,
                    SharedBytes payload) {
  const bool lost = random_.Uniform() < options_.loss;
  const bool twice = random_.Uniform() < options_.repeat;
  const Token sender = workers_[from]->alive;
  const auto task = [this, from, name, header, payload, lost,
                     taken = std::make_shared<bool>(false),
                     weak = std::weak_ptr<char>(sender)](bool last) {
    Worker* to = Find(name);
    if (!lost && to->seat != nullptr) {
      const FrameVerdict verdict = to->seat->OnFrame(now_, header, payload);
      if (verdict == FrameVerdict::kAccepted && std::exchange(*taken, true)) {
        ++parts_repeated_;
      }
      if (verdict != FrameVerdict::kNotYet) return;
    }
    const bool wanted =
        !weak.expired() &&
        workers_[from]->forget_before[header.fragment].value() <=
            header.attempt;
    if (!last || !wanted) return;
    After(kResend, [this, from, name, header, payload, weak] {
      if (!weak.expired()) Deliver(from, name, header, payload);
    });
  };
  After(absl::Milliseconds(1), [task] { task(true); });
  if (!twice) return;
  After(absl::Milliseconds(1 + random_.Below(20)), [task] { task(false); });
}

void World::Worker::Fetch(const std::string& from, const PieceKey& key,
                          Done<absl::StatusOr<SharedBytes>> done) {
  auto shared_done =
      std::make_shared<Done<absl::StatusOr<SharedBytes>>>(std::move(done));
  const bool lost = world.random().Uniform() < world.options().loss;
  Later(alive, [this, from, key, shared_done, lost] {
    Worker* holder = world.Find(from);
    absl::StatusOr<SharedBytes> bytes = absl::UnavailableError("no answer");
    if (!lost && holder != nullptr && holder->seat != nullptr) {
      bytes = holder->seat->OnFetch(key);
    }
    if (bytes.ok() && Hash64(bytes->bytes()) != key.hash) {
      bytes = absl::DataLossError("hash");
    }
    Answer<absl::StatusOr<SharedBytes>>(alive, std::move(*shared_done), bytes);
  });
}

void World::Worker::Store(const StoredFile& file,
                          std::vector<SharedBytes> contents,
                          Done<absl::Status> done) {
  if (const auto given = ahead.find(NameOf(file)); given != ahead.end()) {
    size_t same = 0;
    for (const auto& [index, piece] : given->second) {
      same += index < contents.size() &&
              piece.bytes().data() == contents[index].bytes().data();
    }
    // If the life ended during the exchange, the file was given up, and may be
    // stored with bytes that peers have given.
    if (same > 0 && same < contents.size()) {
      world.failures_.push_back("a piece was not given ahead: " + NameOf(file));
    }
    ahead.erase(given);
    if (same > 0) ++world.results_ahead_;
  }
  auto shared_done = std::make_shared<Done<absl::Status>>(std::move(done));
  auto shared_contents =
      std::make_shared<std::vector<SharedBytes>>(std::move(contents));
  Later(alive, [this, file, shared_contents, shared_done] {
    absl::Status status = absl::ResourceExhaustedError("full");
    if (!disk_full) {
      disk[NameOf(file)] = {file, *shared_contents};
      status = absl::OkStatus();
    }
    std::move (*shared_done)(world.now(), std::move(status));
  });
}

void World::Worker::StoreAhead(const StoredFile& file, size_t index,
                               const SharedBytes& content) {
  if (!ahead[NameOf(file)].emplace(index, content).second) {
    world.failures_.push_back("a piece was given ahead twice: " + NameOf(file));
  }
}

absl::StatusOr<SharedBytes> World::Worker::Map(const StoredFile& file,
                                               uint32_t span) {
  const auto it = disk.find(NameOf(file));
  if (it == disk.end()) return absl::NotFoundError(NameOf(file));
  for (size_t i = 0; i < it->second.first.pieces.size(); ++i) {
    if (it->second.first.pieces[i].span == span) return it->second.second[i];
  }
  return absl::NotFoundError(NameOf(file));
}

void World::Worker::Delete(const StoredFile& file) { disk.erase(NameOf(file)); }

void World::Worker::AgreeCut(const std::string& to, const CutRequest& request,
                             Done<absl::StatusOr<CutReply>> done) {
  auto shared_done =
      std::make_shared<Done<absl::StatusOr<CutReply>>>(std::move(done));
  auto answered = std::make_shared<bool>(false);
  auto answer = [this, weak = std::weak_ptr<char>(alive), shared_done,
                 answered](absl::StatusOr<CutReply> reply) {
    if (weak.expired() || std::exchange(*answered, true)) return;
    Answer<absl::StatusOr<CutReply>>(weak.lock(), std::move(*shared_done),
                                     std::move(reply));
  };
  Later(alive, [this, to, request, answer] {
    Worker* head = world.Find(to);
    if (head == nullptr || head->seat == nullptr) {
      answer(absl::UnavailableError("no head"));
      return;
    }
    head->seat->OnAgreeCut(world.now(), request, answer);
  });
}

void World::Worker::Compute(absl::AnyInvocable<void() &&> work,
                            absl::AnyInvocable<void(Instant now) &&> done) {
  auto both = std::make_shared<std::pair<absl::AnyInvocable<void() &&>,
                                         absl::AnyInvocable<void(Instant) &&>>>(
      std::move(work), std::move(done));
  Later(alive, [this, both] {
    std::move(both->first)();
    std::move(both->second)(world.now());
  });
}

}  // namespace skerry::worker
