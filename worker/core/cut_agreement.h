// worker/core/cut_agreement.h
//
// Does the head's part in agreeing on a cut (PROTOCOL 4.2.2). It hears every
// worker of its replica, then gives all of them the same answer.
#ifndef SKERRY_WORKER_CORE_CUT_AGREEMENT_H_
#define SKERRY_WORKER_CORE_CUT_AGREEMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "worker/core/effects.h"

namespace skerry::worker {

class CutAgreement {
 public:
  using Answer = absl::AnyInvocable<void(absl::StatusOr<CutReply>) &&>;

  // Whoever still waits gets Aborted.
  ~CutAgreement();

  // Starts a life with `size` ranks; whoever still waits gets Aborted. An unset
  // life ends one.
  void Begin(Life life, uint32_t size);

  // A rank asks. It may ask again: the newer request counts, and the older one
  // is answered Unavailable. A request for the round answered last gets that
  // answer. Errors by `answer`: Aborted, an older life or round; Unavailable, a
  // life not heard of yet or a round too far ahead; InvalidArgument, no such
  // rank.
  void Ask(const CutRequest& request, Answer answer);

  // Returns for each fragment the newest sequence that all ranks have stored,
  // or nothing until all ranks have asked.
  std::optional<std::vector<Sequence>> Agreed() const;

  // Whether every rank that has asked can stop at apply points.
  bool AllStop() const;

  // Answers all. Requires: Agreed() has a value.
  void Decide(const CutReply& reply);

 private:
  struct Waiting {
    std::vector<Sequence> stored_through;
    bool stops = false;
    Answer answer;
  };

  Life life_;
  Round round_{1};  // being collected
  std::optional<CutReply> last_;
  std::vector<std::optional<Waiting>> waiting_;  // by rank
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_CUT_AGREEMENT_H_
