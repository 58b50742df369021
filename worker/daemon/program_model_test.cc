#include "worker/daemon/program_model.h"

#include <functional>
#include <string>

#include "gtest/gtest.h"
#include "planner/span_alignment.h"

namespace skerry::worker {
namespace {

v1::DescribeReply Reply() {
  v1::DescribeReply reply;
  reply.set_element_count(41);
  reply.set_layout_hash(7);
  v1::Tensor* table = reply.add_tensors();
  table->set_name("embed.weight");
  table->add_shape(10);
  table->add_shape(4);
  table->set_dtype(v1::DTYPE_BF16);
  table->add_tied("head.weight");
  v1::Tensor* scale = reply.add_tensors();
  scale->set_name("scale");
  scale->set_dtype(v1::DTYPE_F32);
  scale->set_offset(40);
  v1::ExportFile* file = reply.add_export_files();
  file->set_name("config.json");
  file->set_content("{}");
  return reply;
}

TEST(ProgramModelTest, TensorsAndFilesAreTaken) {
  const auto model = ProgramModelOf(Reply());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->layout_hash, 7u);
  ASSERT_EQ(model->table.tensors.size(), 2u);
  EXPECT_EQ(
      model->table.tensors[0],
      (checkpoint::TableTensor{
          "embed.weight", {10, 4}, model::Dtype::kBf16, {"head.weight"}}));
  EXPECT_EQ(model->table.export_files, std::vector<std::string>{"config.json"});
  ASSERT_EQ(model->files.size(), 1u);
  EXPECT_EQ(model->files[0].content, "{}");
}

TEST(ProgramModelTest, AveragedTensorsAreTaken) {
  v1::DescribeReply reply = Reply();
  v1::Tensor* mean = reply.add_tensors();
  mean->set_name("norm.mean");
  mean->add_shape(4);
  mean->set_dtype(v1::DTYPE_F32);
  mean->set_offset(4096);
  mean->set_rule(v1::RULE_AVERAGE);
  reply.set_element_count(4100);
  reply.set_average_begin(4096);
  const auto model = ProgramModelOf(reply);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_TRUE(model->table.tensors[2].average);
  EXPECT_EQ(DescriptionOf(reply).average_begin, 4096u);
  // A span may begin there.
  EXPECT_EQ(checkpoint::AverageBeginOf(model->table) % planner::SpanAlignment(),
            0u);
  reply.set_average_begin(0);
  EXPECT_TRUE(absl::IsInvalidArgument(ProgramModelOf(reply).status()));
}

TEST(ProgramModelTest, ATrainerThatNamesNoAbilityHasAll) {
  v1::DescribeReply reply = Reply();
  EXPECT_TRUE(DescriptionOf(reply).evaluates);
  EXPECT_TRUE(DescriptionOf(reply).groups);
  reply.mutable_capabilities()->set_evaluates(true);
  EXPECT_TRUE(DescriptionOf(reply).evaluates);
  EXPECT_FALSE(DescriptionOf(reply).generates);
  EXPECT_FALSE(DescriptionOf(reply).groups);
}

TEST(ProgramModelTest, WhatDoesNotFitIsNamed) {
  const struct {
    const char* said;
    std::function<void(v1::DescribeReply&)> spoil;
  } cases[] = {
      {"has no tensor", [](auto& r) { r.clear_tensors(); }},
      {"unknown dtype", [](auto& r) { r.mutable_tensors(0)->clear_dtype(); }},
      {"does not follow",
       [](auto& r) { r.mutable_tensors(1)->set_offset(41); }},
      {"41 elements", [](auto& r) { r.set_element_count(42); }},
      {"extent below 1",
       [](auto& r) { r.mutable_tensors(0)->set_shape(0, ~uint64_t{0}); }},
      {"no plain name",
       [](auto& r) { r.mutable_export_files(0)->set_name("../x"); }},
      {"16 MiB",
       [](auto& r) {
         r.mutable_export_files(0)->set_content(std::string(17 << 20, 'a'));
       }},
  };
  for (const auto& [said, spoil] : cases) {
    v1::DescribeReply reply = Reply();
    spoil(reply);
    const absl::Status status = ProgramModelOf(reply).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << said;
    EXPECT_NE(status.message().find(said), std::string::npos) << status;
  }
}

}  // namespace
}  // namespace skerry::worker
