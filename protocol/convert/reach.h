// protocol/convert/reach.h
//
// Converts between messages and values what workers are to dial, what they
// found, and the pieces that they send to the coordinator.
#ifndef SKERRY_PROTOCOL_CONVERT_REACH_H_
#define SKERRY_PROTOCOL_CONVERT_REACH_H_

#include <vector>

#include "absl/status/statusor.h"
#include "google/protobuf/repeated_field.h"
#include "proto/skerry/v1/piece.pb.h"
#include "proto/skerry/v1/reach.pb.h"
#include "protocol/piece_order.h"
#include "protocol/reach.h"

namespace skerry::protocol {

template <typename Message>
using Repeated = google::protobuf::RepeatedPtrField<Message>;

void TryToProto(const TryOrder& order, v1::TryOrder* out);
// Leaves out orders without a usable name, incarnation or endpoint.
std::vector<TryOrder> TriesFromProto(const Repeated<v1::TryOrder>& orders);

void TriedToProto(const Tried& tried, v1::Tried* out);
// Errors: InvalidArgument, with the field.
absl::StatusOr<std::vector<Tried>> TriedFromProto(
    const Repeated<v1::Tried>& list);

void AskedToProto(const PieceKey& key, v1::PieceKey* out);
// Errors: InvalidArgument, with the field.
absl::StatusOr<PieceKey> AskedFromProto(const v1::PieceKey& key);

void PieceOrderToProto(const PieceOrder& order, v1::PieceOrder* out);
// Leaves out orders that name no request or no piece.
std::vector<PieceOrder> PieceOrdersFromProto(
    const Repeated<v1::PieceOrder>& orders);

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_CONVERT_REACH_H_
