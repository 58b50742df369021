#include "worker/core/exchange.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/status.h"
#include "compression/workspace.h"
#include "worker/core/compute.h"
#include "worker/core/owed_sums.h"
#include "worker/core/sums.h"

namespace skerry::worker {
namespace {

using protocol::SpanHolder;

using compression::FrameKind;

absl::StatusOr<SharedBytes> Encode(compression::CodecId id,
                                   std::span<const float> values) {
  SKERRY_ASSIGN_OR_RETURN(const compression::Codec* codec,
                          compression::FindCodec(id));
  std::vector<std::byte> payload;
  SKERRY_RETURN_IF_ERROR(
      codec->Encode(values, payload, compression::ThreadWorkspace()));
  return SharedBytes(std::move(payload));
}

const SpanHolder* HolderOf(const Member& member, uint32_t span) {
  for (const SpanHolder& holder : member.holders) {
    if (holder.Holds(span)) return &holder;
  }
  return nullptr;
}

absl::Status Misfit(const OpenExchange& open, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("attempt ", open.attempt.value(), ": ", what));
}

}  // namespace

absl::Status ValidateOpen(const OpenExchange& open, const Layout& layout,
                          uint32_t begin, uint32_t end) {
  if (begin >= end || end > layout.size()) {
    return Misfit(open, "this worker's spans are not the model's");
  }
  if (open.owners.size() != layout.size()) {
    return Misfit(open, absl::StrCat(open.owners.size(), " owners for ",
                                     layout.size(), " spans"));
  }
  if (open.members.empty() || open.members.size() > kPiecePayloadsMax ||
      !(static_cast<float>(open.total_weight) > 0) ||
      !std::isfinite(static_cast<float>(open.total_weight))) {
    return Misfit(open, "no members, too many, or no weight");
  }
  for (const Member& member : open.members) {
    for (const auto codec : {member.OfContributions(), member.OfResults()}) {
      SKERRY_RETURN_IF_ERROR(compression::FindCodec(codec).status());
    }
    for (uint32_t span = begin; span < end; ++span) {
      if (HolderOf(member, span) != nullptr) continue;
      return Misfit(open,
                    absl::StrCat("nobody of replica ", member.replica.value(),
                                 " holds span ", span));
    }
  }
  for (const uint32_t owner : open.owners) {
    if (owner >= open.members.size()) return Misfit(open, "unknown owner");
  }
  return absl::OkStatus();
}

// One member's term; the owner's own has no parts and is added uncoded.
struct Exchange::SumTerm {
  compression::CodecId codec = compression::CodecId::kRawF32;
  std::vector<SharedBytes> parts;
};

struct Exchange::Summed {
  absl::Status status;
  SharedBytes encoded;
  Values error;
};

Exchange::Summed Exchange::SumAndEncode(std::span<const float> owed,
                                        const std::vector<SumTerm>& terms,
                                        compression::CodecId id, float weight) {
  Summed summed;
  std::vector<float> sum(owed.size());
  for (const SumTerm& term : terms) {
    if (term.parts.empty()) {
      AddOwed(owed, sum);
      continue;
    }
    summed.status = (*compression::FindCodec(term.codec))
                        ->DecodeAdd(Join(term.parts).bytes(), sum,
                                    compression::ThreadWorkspace());
    if (!summed.status.ok()) return summed;
  }
  const std::span<float> mean =
      compression::ThreadWorkspace().DecodedRoom(sum.size());
  MeanOfSum(sum, weight, mean);
  auto encoded = Encode(id, mean);
  summed.status = encoded.status();
  if (!encoded.ok()) return summed;
  summed.encoded = *std::move(encoded);
  summed.status = (*compression::FindCodec(id))
                      ->Decode(summed.encoded.bytes(), mean,
                               compression::ThreadWorkspace());
  // In place of the sum.
  OwnerError(sum, weight, mean, sum);
  summed.error = std::make_shared<const std::vector<float>>(std::move(sum));
  return summed;
}

struct Exchange::Finished {
  absl::Status status;
  ExchangeResult::Piece piece;
  double squared_norm = 0;
};

Exchange::Exchange(ExchangePlan plan, const Layout& layout,
                   std::vector<OwedSpan> owed, BulkPort& bulk, HostPort& host,
                   OnEnd on_end)
    : plan_(std::move(plan)),
      layout_(layout),
      bulk_(bulk),
      host_(host),
      on_end_(std::move(on_end)),
      spans_(plan_.span_end - plan_.span_begin) {
  SKERRY_CHECK(owed.size() == spans_.size());
  for (uint32_t span = plan_.span_begin; span < plan_.span_end; ++span) {
    At(span).owed = std::move(owed[span - plan_.span_begin]);
    Expect(span);
    ++(At(span).owned ? sums_left_ : encodes_left_);
  }
}

compression::CodecId Exchange::CodecOf(uint32_t span, const Member& member,
                                       FrameKind kind) const {
  if (layout_.rule(span) == SpanRule::kAverage) {
    return compression::CodecId::kRawF32;
  }
  return kind == FrameKind::kResult ? member.OfResults()
                                    : member.OfContributions();
}

void Exchange::Expect(uint32_t span) {
  Span& state = At(span);
  state.owner = plan_.open.owners[span];
  state.owned = !one_hop() && state.owner == plan_.self;
  const uint64_t elements = layout_.elements(span);
  for (uint32_t m = 0; m < plan_.open.members.size(); ++m) {
    const bool contributes = one_hop() || state.owned;
    if (m == plan_.self || !(contributes || m == state.owner)) continue;
    const FrameKind kind =
        contributes ? FrameKind::kContribution : FrameKind::kResult;
    const compression::CodecId codec =
        CodecOf(span, plan_.open.members[m], kind);
    const uint64_t bytes_max =
        (*compression::FindCodec(codec))->MaxEncodedBytes(elements);
    state.from.emplace(m, Inbox(kind, codec, elements, bytes_max));
  }
}

void Exchange::Start() {
  for (uint32_t span = plan_.span_begin; span < plan_.span_end; ++span) {
    if (At(span).owned) {
      Step(span);
    } else {
      EncodeOwn(span);
    }
  }
}

void Exchange::EncodeOwn(uint32_t span) {
  Compute(
      host_,
      [codec = CodecOf(span, self(), FrameKind::kContribution),
       values = At(span).owed.values] { return Encode(codec, *values); },
      scope_.Wrap([this, span](Instant now, absl::StatusOr<SharedBytes> bytes) {
        OnEncoded(now, span, std::move(bytes));
      }));
}

void Exchange::OnEncoded(Instant now, uint32_t span,
                         absl::StatusOr<SharedBytes> bytes) {
  if (!bytes.ok()) return End(now, bytes.status());
  Span& state = At(span);
  state.encoded = *std::move(bytes);
  state.is_encoded = true;
  for (uint32_t m = 0; m < plan_.open.members.size(); ++m) {
    if (m == plan_.self || !(one_hop() || m == state.owner)) continue;
    Send(span, FrameKind::kContribution, m, state.encoded);
  }
  if (--encodes_left_ == 0) Trace("contributions are encoded");
  Step(span);
}

FrameVerdict Exchange::Offer(const compression::FrameHeader& header,
                             const SharedBytes& payload) {
  if (header.sequence != sequence().value() || header.span < plan_.span_begin ||
      header.span >= plan_.span_end) {
    return FrameVerdict::kRefused;
  }
  const auto& members = plan_.open.members;
  const auto sender =
      std::find_if(members.begin(), members.end(), [&](const Member& member) {
        return member.replica.value() == header.sender;
      });
  if (sender == members.end()) return FrameVerdict::kRefused;
  Span& state = At(header.span);
  const auto from =
      state.from.find(static_cast<uint32_t>(sender - members.begin()));
  if (from == state.from.end()) return FrameVerdict::kRefused;
  Inbox& inbox = from->second;
  const size_t seen = inbox.parts_seen();
  const FrameVerdict verdict = inbox.Put(header, payload);
  if (verdict != FrameVerdict::kAccepted) return verdict;
  if (inbox.parts_seen() == seen) {
    ++parts_repeated_;
    return verdict;
  }
  bytes_received_ += payload.size();
  if (inbox.whole()) Step(header.span);
  return verdict;
}

void Exchange::Step(uint32_t span) {
  Span& state = At(span);
  if (state.working) return;
  for (const auto& [member, inbox] : state.from) {
    if (!inbox.whole()) return;
  }
  if (state.owned) {
    state.working = true;
    return Sum(span);
  }
  // The result may be here before the own contribution is encoded; it is not
  // taken then, because the outcome needs the bytes that left.
  if (!state.is_encoded) return;
  state.working = true;
  std::vector<PiecePayload> payloads;
  for (uint32_t m = 0; m < plan_.open.members.size(); ++m) {
    if (m == plan_.self && one_hop()) {
      payloads.push_back(
          {CodecOf(span, self(), FrameKind::kContribution), {state.encoded}});
      continue;
    }
    const auto inbox = state.from.find(m);
    if (inbox == state.from.end()) continue;
    payloads.push_back({inbox->second.codec(), inbox->second.parts()});
    inbox->second.Drop();
  }
  Finish(span, std::move(payloads));
}

void Exchange::Sum(uint32_t span) {
  Span& state = At(span);
  std::vector<SumTerm> terms;
  for (uint32_t m = 0; m < plan_.open.members.size(); ++m) {
    const auto inbox = state.from.find(m);
    if (inbox == state.from.end()) {
      terms.push_back({});
      continue;
    }
    terms.push_back({inbox->second.codec(), inbox->second.parts()});
    inbox->second.Drop();
  }
  Compute(
      host_,
      [owed = state.owed.values, terms = std::move(terms),
       codec = CodecOf(span, self(), FrameKind::kResult),
       weight = static_cast<float>(plan_.open.total_weight)] {
        return SumAndEncode(*owed, terms, codec, weight);
      },
      scope_.Wrap([this, span](Instant now, Summed summed) {
        OnSummed(now, span, std::move(summed));
      }));
}

void Exchange::OnSummed(Instant now, uint32_t span, Summed summed) {
  if (!summed.status.ok()) return End(now, summed.status);
  Span& state = At(span);
  state.encoded = std::move(summed.encoded);
  state.is_encoded = true;
  state.error = std::move(summed.error);
  for (uint32_t m = 0; m < plan_.open.members.size(); ++m) {
    if (m != plan_.self) Send(span, FrameKind::kResult, m, state.encoded);
  }
  if (--sums_left_ == 0) Trace("sums are encoded");
  Finish(span, {{CodecOf(span, self(), FrameKind::kResult), {state.encoded}}});
}

void Exchange::Finish(uint32_t span, std::vector<PiecePayload> payloads) {
  Compute(
      host_,
      [span, payloads = std::move(payloads),
       shape = one_hop() ? PieceShape::kMembers : PieceShape::kMean,
       weight = plan_.open.total_weight, elements = layout_.elements(span),
       is_step = layout_.rule(span) == SpanRule::kStep] {
        Finished finished;
        std::vector<std::byte> piece = WriteResultPiece(shape, payloads);
        const std::span<float> mean =
            compression::ThreadWorkspace().DecodedRoom(elements);
        finished.status = DecodeMean(piece, weight, mean);
        if (is_step) finished.squared_norm = SumsOf(mean).squared;
        finished.piece = {span, Hash64(piece), SharedBytes(std::move(piece))};
        return finished;
      },
      scope_.Wrap([this, span](Instant now, Finished finished) {
        OnFinished(now, span, std::move(finished));
      }));
}

void Exchange::OnFinished(Instant now, uint32_t span, Finished finished) {
  if (!finished.status.ok()) return End(now, finished.status);
  Span& state = At(span);
  state.piece = std::move(finished.piece);
  state.squared_norm = finished.squared_norm;
  state.done = true;
  if (on_piece_ && !ended_) on_piece_(state.piece);
  if (++spans_done_ < spans_.size()) return;
  // In span order, so that the norm does not depend on who finished first.
  for (Span& one : spans_) {
    result_.pieces.push_back(std::move(one.piece));
    result_.squared_norm += one.squared_norm;
  }
  End(now, absl::OkStatus());
}

void Exchange::Send(uint32_t span, FrameKind kind, uint32_t member,
                    const SharedBytes& bytes) {
  const SpanHolder* holder = HolderOf(plan_.open.members[member], span);
  SKERRY_CHECK(holder != nullptr);
  compression::FrameHeader header;
  header.kind = kind;
  header.codec = CodecOf(span, self(), kind);
  header.job = plan_.job.value();
  header.sequence = sequence().value();
  header.attempt = attempt().value();
  header.sender = self().replica.value();
  header.span = span;
  header.element_count = layout_.elements(span);
  const uint64_t size = plan_.part_bytes;
  header.parts = static_cast<uint32_t>(
      std::max<uint64_t>(1, (bytes.size() + size - 1) / size));
  for (header.part = 0; header.part < header.parts; ++header.part) {
    const size_t offset = header.part * size;
    const SharedBytes part =
        bytes.Part(offset, std::min<uint64_t>(size, bytes.size() - offset));
    header.payload_bytes = part.size();
    header.payload_hash = Hash64(part.bytes());
    bulk_.SendFrame(holder->peer.worker, header, part);
  }
  bytes_sent_ += bytes.size();
}

std::optional<Exchange::Sent> Exchange::SentOf(uint32_t span) const {
  const Span& state = spans_[span - plan_.span_begin];
  if (!state.is_encoded) return std::nullopt;
  const FrameKind kind =
      state.owned ? FrameKind::kResult : FrameKind::kContribution;
  return Sent{state.owned, state.error, CodecOf(span, self(), kind),
              state.encoded};
}

std::vector<protocol::Progress> Exchange::Progress() const {
  std::vector<protocol::Progress> progress;
  for (uint32_t m = 0; m < plan_.open.members.size(); ++m) {
    protocol::Progress one{plan_.open.members[m].replica, 0, 0};
    for (const Span& span : spans_) {
      const auto inbox = span.from.find(m);
      if (inbox == span.from.end()) continue;
      one.bytes += inbox->second.bytes();
      one.bytes_expected += inbox->second.bytes_max();
    }
    if (one.bytes_expected > 0) progress.push_back(one);
  }
  return progress;
}

void Exchange::End(Instant now, absl::Status status) {
  if (ended_) return;
  ended_ = true;
  complete_ = status.ok();
  if (complete_) Trace("the result is whole");
  on_end_(now, std::move(status));
}

void Exchange::Trace(std::string_view what) {
  host_.Trace(absl::StrCat("attempt ", attempt().value(), ": ",
                           absl::string_view(what.data(), what.size())));
}

bool Exchange::in_second_hop() const {
  return !one_hop() &&
         std::all_of(spans_.begin(), spans_.end(), [](const Span& span) {
           return !span.owned || span.is_encoded;
         });
}

}  // namespace skerry::worker
