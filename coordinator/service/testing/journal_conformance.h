// coordinator/service/testing/journal_conformance.h
//
// Tests what every journal must do. Instantiate JournalConformance with a
// maker.
#ifndef SKERRY_COORDINATOR_SERVICE_TESTING_JOURNAL_CONFORMANCE_H_
#define SKERRY_COORDINATOR_SERVICE_TESTING_JOURNAL_CONFORMANCE_H_

#include <functional>
#include <memory>
#include <string>

#include "coordinator/service/journal.h"
#include "gtest/gtest.h"
#include "runtime/event_loop.h"

namespace skerry::coordinator {

// A place where journals live one after the other.
class JournalHome {
 public:
  virtual ~JournalHome() = default;
  // The journal as a process that starts now finds it. Earlier journals may
  // still be there: a deposed writer.
  virtual std::unique_ptr<Journal> Open(runtime::EventLoop& loop,
                                        JournalFailure on_failure) = 0;
  // Moves to what a power cut at this instant would leave.
  virtual void Crash() = 0;
};

struct JournalKind {
  std::string name;
  std::function<std::unique_ptr<JournalHome>()> make;
};

class JournalConformance : public testing::TestWithParam<JournalKind> {};

}  // namespace skerry::coordinator

#endif  // SKERRY_COORDINATOR_SERVICE_TESTING_JOURNAL_CONFORMANCE_H_
