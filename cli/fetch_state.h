// cli/fetch_state.h
//
// A model's state from the workers that hold it, span by span.
#ifndef SKERRY_CLI_FETCH_STATE_H_
#define SKERRY_CLI_FETCH_STATE_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/skerry/v1/operator.pb.h"
#include "proto/skerry/v1/piece.pb.h"

namespace skerry::transport {
class Credentials;
}  // namespace skerry::transport

namespace skerry::cli {

// fp32, in the order of the flat model state.
struct FetchedState {
  std::vector<float> anchor;
  // Empty when the outer method has none.
  std::vector<float> outer_momentum;
};

// Fetches the bytes of one piece through the coordinator. Blocks. Several
// threads call it. Errors: as Client::FetchPiece.
using FetchThrough = std::function<absl::StatusOr<std::string>(
    const v1::FetchPieceRequest& request)>;

// Blocks. Every piece is fetched from one of its holders, the next one when
// that fails, and proves itself by its hash. Pieces of holders that do not
// answer here come through the coordinator, if `through` is given.
//
// Errors: Aborted when no holder has a piece any more (locate the state again);
// Unavailable when none can be reached; DataLoss when a piece does not fit its
// span or hash.
absl::StatusOr<FetchedState> FetchState(
    const v1::StateView& where,
    std::shared_ptr<transport::Credentials> credentials,
    FetchThrough through = nullptr);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_FETCH_STATE_H_
