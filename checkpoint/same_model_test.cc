#include "checkpoint/same_model.h"

#include <string>

#include "gtest/gtest.h"

namespace skerry::checkpoint {
namespace {

constexpr char kSmall[] = R"({"model_type": "gpt2", "n_embd": 64,
  "n_layer": 2, "n_head": 2, "vocab_size": 256, "n_positions": 32,
  "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0})";

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

TEST(SameModelTest, WhatDoesNotTouchTheArithmeticMayDiffer) {
  EXPECT_TRUE(CheckSameModel(kSmall, R"({"model_type": "gpt2", "n_embd": 64,
    "n_layer": 2, "n_head": 2, "vocab_size": 256, "n_positions": 32,
  "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0,
    "n_inner": 256, "initializer_range": 0.01, "torch_dtype": "float32",
    "architectures": ["GPT2LMHeadModel"], "eos_token_id": null})")
                  .ok());
}

TEST(SameModelTest, EveryDifferenceIsNamedWithBothValues) {
  const absl::Status status =
      CheckSameModel(kSmall, R"({"model_type": "gpt2", "n_embd": 128,
    "n_layer": 3, "n_head": 2, "vocab_size": 256, "n_positions": 32,
  "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0})");
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  // The inner and the head's width follow from n_embd.
  EXPECT_EQ(Message(status),
            "the job's model is another one: n_embd 64 and 128, n_layer 2 and "
            "3, n_inner 256 and 512, head_dim 32 and 64");
}

TEST(SameModelTest, ATextThatIsNoConfigIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(CheckSameModel(kSmall, "weights")));
  EXPECT_TRUE(absl::IsInvalidArgument(CheckSameModel("{", kSmall)));
}

TEST(SameModelTest, TensorsAreComparedByNameShapeAndOrder) {
  const TensorTable job{
      {{"a", {2, 3}, model::Dtype::kF32}, {"b", {}, model::Dtype::kBf16}}};
  EXPECT_TRUE(CheckSameTensors(job, job).ok());
  // In which type a tensor is kept is the program's own business.
  TensorTable found{{{"a", {2, 3}, model::Dtype::kF16}}};
  EXPECT_EQ(Message(CheckSameTensors(job, found)),
            "the job's model is another one: it has 2 tensors, not 1");
  found.tensors.push_back({"c", {}, model::Dtype::kF32});
  EXPECT_EQ(Message(CheckSameTensors(job, found)),
            "the job's model is another one: its tensor 1 is b [], not c []");
}

}  // namespace
}  // namespace skerry::checkpoint
