#include "job/needs.h"

#include "gtest/gtest.h"
#include "job/testing/specs.h"

namespace skerry::job {
namespace {

TEST(NeedsTest, MomentsAreCountedByOptimizer) {
  JobSpec spec = SmallJob("job", 100);
  const Needs adamw = NeedsOf(spec);
  EXPECT_GT(adamw.parameters, 256u * 8);
  EXPECT_EQ(adamw.worker_bytes, adamw.parameters * 20);
  spec.training.optimizer = InnerOptimizer::kSgd;
  EXPECT_EQ(NeedsOf(spec).worker_bytes, adamw.parameters * 12);
}

TEST(NeedsTest, AModelOf309BillionParametersNeedsSixTerabytes) {
  JobSpec spec = SmallJob("job", 100);
  spec.model.config_json =
      R"({"model_type": "gpt2", "vocab_size": 256, "n_positions": 64, )"
      R"("n_embd": 16384, "n_layer": 96, "n_head": 128, "resid_pdrop": 0, )"
      R"("embd_pdrop": 0, "attn_pdrop": 0})";
  EXPECT_EQ(NeedsOf(spec).parameters, 309'263'368'192u);
  EXPECT_EQ(NeedsOf(spec).worker_bytes, 309'263'368'192u * 20);
}

TEST(NeedsTest, AConfigThatIsNotUnderstoodNeedsNothingKnown) {
  JobSpec spec = SmallJob("job", 100);
  spec.model.config_json = "{}";
  EXPECT_EQ(NeedsOf(spec).parameters, 0u);
  EXPECT_EQ(NeedsOf(spec).worker_bytes, 0u);
}

}  // namespace
}  // namespace skerry::job
