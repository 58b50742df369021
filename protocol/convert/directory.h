// protocol/convert/directory.h
//
// Converts the directory of orders to its message and back. Orders of older
// coordinators, which knew workers by their addresses, have something else in
// its place.
#ifndef SKERRY_PROTOCOL_CONVERT_DIRECTORY_H_
#define SKERRY_PROTOCOL_CONVERT_DIRECTORY_H_

#include "google/protobuf/repeated_field.h"
#include "proto/skerry/v1/types.pb.h"
#include "protocol/orders.h"
#include "protocol/peers.h"
#include "protocol/state_piece.h"

namespace skerry::protocol {

using EndpointsProto = google::protobuf::RepeatedPtrField<v1::Endpoints>;

void DirectoryToProto(const Directory& directory, EndpointsProto* out);
// Leaves out entries without a usable name or endpoint: such a worker cannot be
// reached, and nothing else is wrong.
Directory DirectoryFromProto(const EndpointsProto& entries);

// Writes the names of the holders, and for older releases where `directory` has
// them.
void PieceToProto(const StatePiece& piece, const Directory& directory,
                  v1::StatePiece* out);
// Answers addresses in place of names where the message has no names.
StatePiece PieceFromProto(const v1::StatePiece& piece);

// Makes the directory of orders that came without one from the addresses in
// them: of this worker's own replica those inside the island. Pieces whose
// holders are named by address get the names, where the orders have them; the
// address stands for the name otherwise.
void FillDirectory(Orders& orders);

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_CONVERT_DIRECTORY_H_
