// worker/core/audit.h
//
// Defines the sums of a seat's books for one fragment, which checkers compare.
#ifndef SKERRY_WORKER_CORE_AUDIT_H_
#define SKERRY_WORKER_CORE_AUDIT_H_

namespace skerry::worker {

// Conservation (PROTOCOL 4.4) as sums over elements of the held spans, in
// float64 and weighted units: produced = taken + lost + owed, to rounding.
struct Audit {
  double produced = 0;
  double taken = 0;  // left by outcomes `committed`, errors handed back
  double lost = 0;
  double owed = 0;
  friend bool operator==(const Audit&, const Audit&) = default;
};

}  // namespace skerry::worker

#endif  // SKERRY_WORKER_CORE_AUDIT_H_
