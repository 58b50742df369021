// trainer/attach/convert/lines.h
//
// The lines between skerry-attach and a rank (docs/formats/attach.md). A rank's
// bytes are foreign: any may be given.
#ifndef SKERRY_TRAINER_ATTACH_CONVERT_LINES_H_
#define SKERRY_TRAINER_ATTACH_CONVERT_LINES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message.h"
#include "trainer/attach/core/rank_line.h"

namespace skerry::trainer::attach {

// Reads a rank's line, which has no line feed. Errors: InvalidArgument with
// what is wrong, to follow "rank R sent a line that ".
absl::StatusOr<RankLine> ParseRankLine(std::string_view line);

// A call as a line, with its line feed. Errors: InvalidArgument when the line
// would be longer than a line may be.
absl::StatusOr<std::string> CallLine(Call call, uint64_t id,
                                     const google::protobuf::Message& body);

// Reads an answer's body, which may be empty, into `message`; members that
// `message` does not have are ignored. Errors: InvalidArgument.
absl::Status ParseBody(const std::string& body,
                       google::protobuf::Message& message);

}  // namespace skerry::trainer::attach

#endif  // SKERRY_TRAINER_ATTACH_CONVERT_LINES_H_
