#include "coordinator/service/control_stream.h"

#include "gtest/gtest.h"

namespace skerry::coordinator {
namespace {

void AddCommitted(uint64_t sequence, int hashes, v1::FragmentOrders* fragment) {
  v1::CommittedEntry* entry = fragment->add_committed();
  entry->set_sequence(sequence);
  for (int i = 0; i < hashes; ++i) entry->add_hashes(~uint64_t{0});
}

v1::Orders LongOrders() {
  v1::Orders orders;
  v1::JobOrders* job = orders.add_jobs();
  for (uint32_t index : {0u, 1u}) {
    v1::FragmentOrders* fragment = job->add_fragments();
    fragment->set_fragment(index);
    for (uint64_t sequence = 5; sequence < 5 + 100 * (index + 1); ++sequence) {
      AddCommitted(sequence, 64, fragment);
    }
  }
  return orders;
}

TEST(BoundOrdersTest, OrdersThatFitAreLeftAlone) {
  v1::Orders orders = LongOrders();
  const std::string before = orders.SerializeAsString();
  ASSERT_TRUE(BoundOrders(before.size(), &orders).ok());
  EXPECT_EQ(orders.SerializeAsString(), before);
}

TEST(BoundOrdersTest, TheNewestEntriesGoAndNoGapIsMade) {
  for (const size_t bytes_max : {100'000u, 20'000u, 2'000u}) {
    v1::Orders orders = LongOrders();
    ASSERT_TRUE(BoundOrders(bytes_max, &orders).ok());
    EXPECT_LE(orders.ByteSizeLong(), bytes_max);
    for (const v1::FragmentOrders& fragment : orders.jobs(0).fragments()) {
      ASSERT_GE(fragment.committed_size(), 1);
      for (int i = 0; i < fragment.committed_size(); ++i) {
        EXPECT_EQ(fragment.committed(i).sequence(), 5u + i);
      }
    }
  }
}

TEST(BoundOrdersTest, WhatCannotBeCutIsRefused) {
  v1::Orders orders = LongOrders();
  orders.mutable_jobs(0)->mutable_spec()->mutable_model()->set_config_json(
      std::string(5000, 'x'));
  EXPECT_EQ(BoundOrders(5000, &orders).code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace skerry::coordinator
