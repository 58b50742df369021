#include "checkpoint/tensor_table.h"

#include <functional>

#include "gtest/gtest.h"

namespace skerry::checkpoint {
namespace {

TensorTable Table() {
  return {{{"embed.weight", {10, 4}, model::Dtype::kBf16, {"head.weight"}},
           {"scale", {}, model::Dtype::kF32, {}},
           {"body.bias", {4}, model::Dtype::kF16, {}}},
          {"config.json", "vocab.txt"}};
}

TEST(TensorTableTest, ATableSurvivesItsText) {
  const std::string text = SerializeTable(Table());
  const auto read = ParseTable(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Table());
  EXPECT_EQ(SerializeTable(*read), text);
}

TEST(TensorTableTest, ATensorIsOneLineOfTheText) {
  EXPECT_NE(SerializeTable(Table()).find(
                "\n    {\"name\":\"embed.weight\",\"shape\":[10,4],"
                "\"dtype\":\"BF16\",\"tied\":[\"head.weight\"]},\n"),
            std::string::npos)
      << SerializeTable(Table());
}

TEST(TensorTableTest, TensorsFollowOneAnotherInTheFlatState) {
  const model::ParameterLayout layout = LayoutOf(Table());
  EXPECT_EQ(layout.element_count(), 45);
  EXPECT_EQ(layout.tensor(1).offset, 40);
  EXPECT_EQ(layout.tensor(1).elements, 1);
  EXPECT_EQ(layout.tensor(2).offset, 41);
}

TensorTable Averaging() {
  TensorTable table = Table();
  table.tensors.push_back({"norm.mean", {4}, model::Dtype::kF32, {}, true});
  table.tensors.push_back({"norm.var", {4}, model::Dtype::kF32, {}, true});
  return table;
}

TEST(TensorTableTest, AveragedTensorsBeginAtAnEdge) {
  const std::string text = SerializeTable(Averaging());
  EXPECT_NE(text.find("\"skerry.tensors/2\""), std::string::npos);
  const auto read = ParseTable(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Averaging());
  EXPECT_EQ(AverageBeginOf(*read), 4096u);
  const model::ParameterLayout layout = LayoutOf(*read);
  EXPECT_EQ(layout.tensor(3).offset, 4096);
  EXPECT_EQ(layout.tensor(4).offset, 4100);
  EXPECT_EQ(layout.element_count(), 4104);
  EXPECT_EQ(AverageBeginOf(Table()), 0u);
}

TEST(TensorTableTest, WhatIsWrongIsNamed) {
  const struct {
    const char* said;
    std::function<void(TensorTable&)> spoil;
  } cases[] = {
      {"has no tensor", [](TensorTable& t) { t.tensors.clear(); }},
      {"twice", [](TensorTable& t) { t.tensors[1].name = "head.weight"; }},
      {"no name of a tensor", [](TensorTable& t) { t.tensors[1].name = ""; }},
      {"no name of a tensor",
       [](TensorTable& t) { t.tensors[1].name = "a\nb"; }},
      {"extent below 1", [](TensorTable& t) { t.tensors[0].shape = {0}; }},
      {"too large",
       [](TensorTable& t) {
         t.tensors[0].shape = {1 << 30, 1 << 30};
       }},
      {"F64", [](TensorTable& t) { t.tensors[0].dtype = model::Dtype::kF64; }},
      {"its first tensor is averaged",
       [](TensorTable& t) {
         for (TableTensor& tensor : t.tensors) tensor.average = true;
       }},
      {"body.bias comes after",
       [](TensorTable& t) { t.tensors[1].average = true; }},
      {"no plain name", [](TensorTable& t) { t.export_files = {"a/b"}; }},
      {"no plain name", [](TensorTable& t) { t.export_files = {".."}; }},
      {"no plain name",
       [](TensorTable& t) { t.export_files = {"model.safetensors"}; }},
      {"no plain name",
       [](TensorTable& t) { t.export_files = {"skerry-checkpoint.json"}; }},
      {"twice",
       [](TensorTable& t) {
         t.export_files = {"a", "a"};
       }},
  };
  for (const auto& [said, spoil] : cases) {
    TensorTable table = Table();
    spoil(table);
    const absl::Status status = ValidateTable(table);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << said;
    EXPECT_NE(status.message().find(said), std::string::npos) << status;
  }
}

TEST(TensorTableTest, OtherTextIsRefused) {
  for (const char* text :
       {"", "[]", "{}", "{\"format\":\"skerry.tensors/2\",\"tensors\":[]}",
        "{\"format\":\"skerry.tensors/1\"}",
        // A table of averages without any, and the other way round.
        "{\"format\":\"skerry.tensors/2\",\"tensors\":[{\"name\":\"a\","
        "\"shape\":[1],\"dtype\":\"F32\"}]}",
        "{\"format\":\"skerry.tensors/1\",\"tensors\":[{\"name\":\"a\","
        "\"shape\":[1],\"dtype\":\"F32\"},{\"name\":\"b\",\"shape\":[1],"
        "\"dtype\":\"F32\",\"average\":true}]}",
        "{\"format\":\"skerry.tensors/2\",\"tensors\":[{\"name\":\"a\","
        "\"shape\":[1],\"dtype\":\"F32\"},{\"name\":\"b\",\"shape\":[1],"
        "\"dtype\":\"F32\",\"average\":1}]}",
        "{\"format\":\"skerry.tensors/1\",\"tensors\":[{\"name\":\"a\","
        "\"shape\":[-1],\"dtype\":\"F32\"}]}",
        "{\"format\":\"skerry.tensors/1\",\"tensors\":[{\"name\":\"a\","
        "\"shape\":[1],\"dtype\":\"I8\"}]}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseTable(text).status())) << text;
  }
}

}  // namespace
}  // namespace skerry::checkpoint
