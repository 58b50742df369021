#include "worker/daemon/job_progress.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/log.h"
#include "runtime/testing/manual_loop.h"

namespace skerry::worker {
namespace {

using testing::SizeIs;

class Lines final : public runtime::LogSink {
 public:
  Lines() { runtime::InstallLogSink(this); }
  ~Lines() override { runtime::InstallLogSink(nullptr); }
  void Write(runtime::Severity severity, std::string_view event,
             std::span<const runtime::LogField> fields) override {
    EXPECT_EQ(severity, runtime::Severity::kInfo);
    EXPECT_EQ(event, "worker.job.progress");
    auto& line = lines.emplace_back();
    for (const runtime::LogField& field : fields) {
      line.emplace(field.name, field.value);
    }
  }
  uint64_t Last(const std::string& name) const {
    return std::get<uint64_t>(lines.back().at(name));
  }
  std::vector<std::map<std::string, runtime::LogValue>> lines;
};

class JobProgressTest : public testing::Test {
 protected:
  JobProgressTest() {
    facts_.job = JobId(7);
    facts_.state = protocol::SeatState::kActive;
    facts_.fragments.resize(1);
    progress_.emplace(loop_, [this] { return facts_; });
  }
  // A second in which a round was made.
  void Train(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      ++facts_.counters.rounds;
      facts_.counters.bulk_sent_bytes += 100;
      facts_.fragments[0].applied = Sequence(facts_.counters.rounds);
      loop_.Advance(absl::Seconds(1));
    }
  }

  runtime::ManualLoop loop_;
  Lines lines_;
  JobFacts facts_;
  std::optional<JobProgress> progress_;
};

TEST_F(JobProgressTest, ThereIsOneLineAMinuteWithWhatThatMinuteBrought) {
  Train(59);
  EXPECT_THAT(lines_.lines, SizeIs(0));
  Train(1);
  ASSERT_THAT(lines_.lines, SizeIs(1));
  EXPECT_EQ(lines_.Last("job"), 7u);
  EXPECT_EQ(lines_.Last("rounds"), 60u);
  Train(120);
  ASSERT_THAT(lines_.lines, SizeIs(3));
  EXPECT_EQ(lines_.Last("sequence"), 180u);
  EXPECT_EQ(lines_.Last("rounds"), 60u);
  EXPECT_EQ(lines_.Last("sent_bytes"), 6000u);
}

TEST_F(JobProgressTest, AJobThatHasEndedOrGoneLogsNothing) {
  facts_.state = protocol::SeatState::kResting;
  Train(120);
  EXPECT_THAT(lines_.lines, SizeIs(0));
  facts_.state = protocol::SeatState::kActive;
  progress_.reset();
  Train(120);
  EXPECT_THAT(lines_.lines, SizeIs(0));
}

}  // namespace
}  // namespace skerry::worker
