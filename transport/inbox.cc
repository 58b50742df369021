#include "transport/inbox.h"

#include <utility>
#include <vector>

namespace skerry::transport {
namespace {

// Names come from peers; those beyond this many share one row.
constexpr size_t kNamesMax = 4096;
constexpr char kOtherNames[] = "(others)";

}  // namespace

struct Inbox::Source {
  Source(const std::string& from, const ReceiveGateOptions& options,
         BulkReceiver& receiver, SourceCounters& counters,
         IncomingStream& stream)
      : gate(from, options, receiver, counters),
        counters(counters),
        stream(stream) {}
  ReceiveGate gate;
  SourceCounters& counters;
  IncomingStream& stream;
};

Inbox::Inbox(const ReceiveGateOptions& options, runtime::EventLoop& loop,
             BulkReceiver& receiver)
    : options_(options), loop_(loop), receiver_(receiver) {}

Inbox::~Inbox() { *alive_ = false; }

SourceCounters& Inbox::CountersOf(const std::string& from) {
  const bool is_known = sources_.contains(from);
  const std::string name =
      is_known || sources_.size() < kNamesMax ? from : kOtherNames;
  std::unique_ptr<SourceCounters>& slot = sources_[name];
  if (slot == nullptr) slot = std::make_unique<SourceCounters>();
  return *slot;
}

Inbox::StreamId Inbox::OnOpened(const std::string& from,
                                IncomingStream& stream) {
  const StreamId id = next_id_++;
  streams_[id] = std::make_unique<Source>(from, options_, receiver_,
                                          CountersOf(from), stream);
  return id;
}

void Inbox::OnFrame(StreamId id, uint64_t ordinal,
                    const compression::FrameHeader& header,
                    SharedBytes payload) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  const Answered answered{
      ordinal,
      it->second->gate.Offer(ordinal, header, std::move(payload), loop_.Now())};
  it->second->stream.Answer({&answered, 1});
  if (answered.answer == Answer::kHeld) Arm();
}

void Inbox::OnCorrupt(StreamId id, uint64_t ordinal) {
  const auto it = streams_.find(id);
  if (it == streams_.end()) return;
  ++it->second->counters.frames_corrupt;
  const Answered answered{ordinal, Answer::kCorrupt};
  it->second->stream.Answer({&answered, 1});
}

void Inbox::OnClosed(StreamId id) { streams_.erase(id); }

void Inbox::OnFetch(const Fetcher& fetcher, const PieceKey& key,
                    BulkReceiver::FetchAnswer answer) {
  BulkReceiver::FetchAnswer counted =
      [this, alive = alive_, from = fetcher.name,
       answer = std::move(answer)](absl::StatusOr<SharedBytes> object) mutable {
        if (object.ok() && *alive) {
          SourceCounters& counters = CountersOf(from);
          ++counters.fetches_served;
          counters.fetch_bytes_served += object->size();
        }
        std::move(answer)(std::move(object));
      };
  if (key.kind == PieceKey::Kind::kData) {
    return receiver_.OnDataFetch(fetcher, key, std::move(counted));
  }
  std::move(counted)(receiver_.OnFetch(fetcher, key));
}

// A task of its own, because the receiver may ask from inside OnFrame().
void Inbox::Reoffer(uint64_t job, uint32_t fragment) {
  loop_.Post([this, alive = alive_, job, fragment] {
    if (!*alive) return;
    for (auto& [id, source] : streams_) {
      const std::vector<Answered> answers =
          source->gate.Reoffer(job, fragment, loop_.Now());
      if (!answers.empty()) source->stream.Answer(answers);
    }
  });
}

void Inbox::Retry() {
  for (auto& [id, source] : streams_) {
    const std::vector<Answered> answers = source->gate.Retry(loop_.Now());
    if (!answers.empty()) source->stream.Answer(answers);
  }
  Arm();
}

void Inbox::Arm() {
  std::optional<Instant> next;
  for (const auto& [id, source] : streams_) {
    const std::optional<Instant> due = source->gate.NextWork();
    if (due.has_value() && (!next.has_value() || *due < *next)) next = due;
  }
  if (!next.has_value()) return;
  if (armed_for_.has_value() && *armed_for_ <= *next) return;
  armed_for_ = next;
  loop_.RunAt(*next, [this, alive = alive_, when = *next] {
    if (!*alive) return;
    if (armed_for_ == when) armed_for_.reset();
    Retry();
  });
}

absl::btree_map<std::string, SourceCounters> Inbox::counters() const {
  absl::btree_map<std::string, SourceCounters> all;
  for (const auto& [name, counters] : sources_) all[name] = *counters;
  return all;
}

}  // namespace skerry::transport
