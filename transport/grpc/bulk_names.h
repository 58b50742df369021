// transport/grpc/bulk_names.h
//
// The names of the bulk methods and their metadata, for both ends:
// docs/formats/bulk.md.
#ifndef SKERRY_TRANSPORT_GRPC_BULK_NAMES_H_
#define SKERRY_TRANSPORT_GRPC_BULK_NAMES_H_

#include <cstddef>

namespace skerry::transport {

inline constexpr char kFramesMethod[] = "/skerry.v1.Bulk/Frames";
inline constexpr char kFetchMethod[] = "/skerry.v1.Bulk/Fetch";
inline constexpr char kVersionKey[] = "skerry-bulk-version";
inline constexpr char kVersion[] = "1";
inline constexpr char kFromKey[] = "skerry-from";
inline constexpr size_t kNameBytesMax = 256;

}  // namespace skerry::transport

#endif  // SKERRY_TRANSPORT_GRPC_BULK_NAMES_H_
