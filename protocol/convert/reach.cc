#include "protocol/convert/reach.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "job/limits.h"
#include "protocol/convert/fields.h"

namespace skerry::protocol {

using job::BadField;

namespace {

// A coordinator orders fewer.
constexpr int kTriedMax = 256;
constexpr size_t kWhyBytesMax = 1024;

}  // namespace

void TryToProto(const TryOrder& order, v1::TryOrder* out) {
  out->set_worker(order.worker);
  out->set_incarnation(order.incarnation.value());
  for (const std::string& one : order.endpoints) out->add_endpoints(one);
  out->set_again(order.again);
}

std::vector<TryOrder> TriesFromProto(const Repeated<v1::TryOrder>& orders) {
  std::vector<TryOrder> out;
  for (const v1::TryOrder& order : orders) {
    TryOrder one{
        order.worker(), Incarnation(order.incarnation()), {}, order.again()};
    for (const std::string& endpoint : order.endpoints()) {
      if (CheckName(endpoint, "endpoints").ok()) {
        one.endpoints.push_back(endpoint);
      }
    }
    if (CheckName(one.worker, "worker").ok() && one.incarnation.is_set() &&
        !one.endpoints.empty()) {
      out.push_back(std::move(one));
    }
  }
  return out;
}

void TriedToProto(const Tried& tried, v1::Tried* out) {
  out->set_worker(tried.worker);
  out->set_incarnation(tried.incarnation.value());
  out->set_age_ms(static_cast<uint64_t>(absl::ToInt64Milliseconds(tried.age)));
  out->set_round_trip_ms(tried.round_trip_ms);
  out->set_error(tried.error);
}

absl::StatusOr<std::vector<Tried>> TriedFromProto(
    const Repeated<v1::Tried>& list) {
  if (list.size() > kTriedMax) {
    return BadField("tried", absl::StrCat("lists more than ", kTriedMax));
  }
  std::vector<Tried> out;
  for (const v1::Tried& one : list) {
    SKERRY_RETURN_IF_ERROR(CheckName(one.worker(), "tried.worker"));
    SKERRY_RETURN_IF_ERROR(
        CheckFinite(one.round_trip_ms(), "tried.round_trip_ms"));
    if (one.round_trip_ms() < 0) {
      return BadField("tried.round_trip_ms", "is negative");
    }
    SKERRY_RETURN_IF_ERROR(
        job::CheckText(one.error(), kWhyBytesMax, "tried.error"));
    out.push_back({one.worker(), Incarnation(one.incarnation()),
                   DurationFromProto(one.age_ms()), one.round_trip_ms(),
                   one.error()});
  }
  return out;
}

void AskedToProto(const PieceKey& key, v1::PieceKey* out) {
  out->set_job(key.job.value());
  out->set_fragment(key.fragment);
  out->set_span(key.span);
  out->set_sequence(key.sequence.value());
  out->set_hash(key.hash);
}

absl::StatusOr<PieceKey> AskedFromProto(const v1::PieceKey& key) {
  if (key.job() == 0) return BadField("key.job", "is missing");
  if (key.fragment() >= job::kFragmentsMax) {
    return BadField("key.fragment", "is out of range");
  }
  if (key.span() >= job::kSpansMax) {
    return BadField("key.span", "is out of range");
  }
  return PieceKey{.sequence = Sequence(key.sequence()),
                  .span = key.span(),
                  .hash = key.hash(),
                  .fragment = key.fragment(),
                  .job = JobId(key.job())};
}

void PieceOrderToProto(const PieceOrder& order, v1::PieceOrder* out) {
  out->set_request(order.request);
  AskedToProto(order.key, out->mutable_key());
  out->set_offset(order.offset);
}

std::vector<PieceOrder> PieceOrdersFromProto(
    const Repeated<v1::PieceOrder>& orders) {
  std::vector<PieceOrder> out;
  for (const v1::PieceOrder& order : orders) {
    const absl::StatusOr<PieceKey> key = AskedFromProto(order.key());
    if (order.request() == 0 || !key.ok()) continue;
    out.push_back({order.request(), *key, order.offset()});
  }
  return out;
}

}  // namespace skerry::protocol
