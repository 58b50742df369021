#include "transport/grpc/server_check.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::transport {
namespace {

using testing::HasSubstr;

TEST(ServerCheckTest, ACoordinatorIsTheCoordinatorOfItsCluster) {
  const MeantServer meant{"lab", ServerKind::kCoordinator, std::nullopt};
  EXPECT_TRUE(CheckServer(meant, "spiffe://lab/coordinator").ok());
  for (const char* other :
       {"spiffe://other/coordinator", "spiffe://lab/island/west/worker/w1",
        "spiffe://lab/operator/admin/eve", "spiffe://lab/coordinator/", ""}) {
    EXPECT_TRUE(absl::IsUnauthenticated(CheckServer(meant, other))) << other;
  }
}

TEST(ServerCheckTest, AWorkerIsTheOneThatIsMeantWhereThatIsKnown) {
  MeantServer meant{"lab", ServerKind::kWorker, std::nullopt};
  const char* const w1 = "spiffe://lab/island/west/worker/w1";
  const char* const w2 = "spiffe://lab/island/west/worker/w2";
  EXPECT_TRUE(CheckServer(meant, w1).ok());
  EXPECT_TRUE(CheckServer(meant, w2).ok());
  EXPECT_FALSE(CheckServer(meant, "spiffe://lab/coordinator").ok());
  meant.worker = "w1";
  EXPECT_TRUE(CheckServer(meant, w1).ok());
  EXPECT_THAT(CheckServer(meant, w2).ToString(),
              HasSubstr("island/west/worker/w2\" and not of worker w1"));
}

}  // namespace
}  // namespace skerry::transport
