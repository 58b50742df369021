#include "cli/field_places.h"

#include "gtest/gtest.h"

namespace skerry::cli {
namespace {

TEST(FieldPlacesTest, ProblemsAreToldInTheOrderOfTheFile) {
  FieldPlaces places("job.yaml");
  places.Add("name", {1, 7});
  places.Add("training", {4, 3});
  places.Add("training.tau", {5, 8});
  const absl::Status status = places.Locate(absl::InvalidArgumentError(
      "training.tau: has to be 1\ntraining.samples: is not set\n"
      "data.path: is not set\nname: has to be short"));
  EXPECT_EQ(status.message(),
            "job.yaml:1:7: name: has to be short\n"
            "job.yaml:4:3: training.samples: is not set\n"
            "job.yaml:5:8: training.tau: has to be 1\n"
            "job.yaml: data.path: is not set");
  EXPECT_EQ(places.Locate(absl::NotFoundError("name: x")).message(), "name: x");
}

}  // namespace
}  // namespace skerry::cli
