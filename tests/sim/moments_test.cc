#include "tests/sim/moments.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace skerry::sim {
namespace {

const JobId kJob(1);

class MomentsTest : public testing::Test {
 protected:
  std::vector<Moment> Add(coordinator::Record record) {
    const auto found = moments_.Of({Revision(++index_), std::move(record)});
    return {found.begin(), found.end()};
  }
  void Submit(uint64_t samples, uint32_t fragments) {
    coordinator::JobSubmitted job;
    job.spec.training.samples = samples;
    job.spec.exchange.fragments = fragments;
    Add(job);
  }
  Attempt Open(uint64_t begin, uint64_t end) {
    coordinator::Opened open;
    open.job = kJob;
    open.members.emplace_back().contribution.ranges =
        data::RangeSet(data::SampleRange{begin, end});
    EXPECT_EQ(Add(open), std::vector<Moment>{Moment::kOpened});
    return Attempt(index_);
  }
  std::vector<Moment> Commit(Attempt attempt) {
    coordinator::Committed commit;
    commit.job = kJob;
    commit.attempt = attempt;
    return Add(commit);
  }

  uint64_t index_ = 0;
  Moments moments_;
};

const std::vector<Moment> kPlain = {Moment::kCommitted};
const std::vector<Moment> kLast = {Moment::kCommitted, Moment::kTrained};

TEST_F(MomentsTest, TheCommitOfTheLastSamplesIsTheLast) {
  Submit(20, 1);
  const Attempt first = Open(0, 12);
  Open(12, 20);  // replaced
  const Attempt last = Open(12, 20);
  EXPECT_EQ(Commit(first), kPlain);
  EXPECT_EQ(Commit(last), kLast);
}

TEST_F(MomentsTest, EveryFragmentHasToHaveTheLastSamples) {
  Submit(20, 2);
  const Attempt one = Open(0, 20);
  const Attempt other = Open(0, 20);
  EXPECT_EQ(Commit(one), kPlain);
  EXPECT_EQ(Commit(other), kLast);
}

TEST_F(MomentsTest, AnAttemptThatIsClosedIsNone) {
  Submit(20, 1);
  EXPECT_TRUE(Add(coordinator::Opened{}).empty());
}

}  // namespace
}  // namespace skerry::sim
