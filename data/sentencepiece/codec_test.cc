// With characters as pieces and no library; library_test has the library.
#include "data/sentencepiece/codec.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/random.h"
#include "data/sentencepiece/frames.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace skerry::data {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr int32_t kEnd = 2;
constexpr int32_t kMark = 3;
constexpr int32_t kFirstLetter = 5;

// <unk> <s> </s> (mark) (line feed) a b c d
SentencePieceModel Characters() {
  SentencePieceModel model;
  model.algorithm = PieceAlgorithm::kCharacter;
  model.remove_extra_whitespaces = false;
  model.pieces = {{"<unk>", PieceKind::kUnknown},
                  {"<s>", PieceKind::kControl},
                  {"</s>", PieceKind::kControl},
                  {"\u2581", PieceKind::kNormal},
                  {"\n", PieceKind::kNormal}};
  for (const char* letter : {"a", "b", "c", "d"}) {
    model.pieces.push_back({letter, PieceKind::kNormal});
  }
  return model;
}

std::vector<int32_t> EncodeAlone(std::string_view text) {
  std::vector<int32_t> tokens;
  if (!text.empty()) tokens.push_back(kMark);
  for (const char c : text) {
    tokens.push_back(c == ' '    ? kMark
                     : c == '\n' ? 4
                                 : kFirstLetter + (c - 'a'));
  }
  return tokens;
}

// What the channels of a test have seen, and are to say instead of answers.
struct Script {
  int opened = 0;
  int asked = 0;
  size_t longest = 0;
  absl::Status open_fails;
  std::optional<absl::StatusOr<std::string>> next;
  std::optional<int32_t> vocab_size;
};

std::string Body(const std::optional<std::string>& frame) {
  return frame.value().substr(kFrameLengthBytes);
}

class FakeChannel final : public Channel {
 public:
  explicit FakeChannel(Script& script) : script_(script) {}

  absl::StatusOr<std::string> Exchange(std::string_view bytes) override {
    ++script_.asked;
    script_.longest = std::max(script_.longest, bytes.size());
    std::string why;
    const auto frame = ParseFrame(bytes.substr(kFrameLengthBytes), why);
    EXPECT_TRUE(frame.has_value()) << why;
    if (frame->kind == FrameKind::kOpen) {
      EXPECT_EQ(frame->texts[0], "the model");
      const std::vector<int32_t> sizes[] = {{script_.vocab_size.value_or(9)}};
      return Body(WriteFrame(FrameKind::kOpened, sizes));
    }
    if (script_.next.has_value()) {
      return *std::exchange(script_.next, std::nullopt);
    }
    if (frame->kind == FrameKind::kDecode) {
      const std::string text = std::to_string(frame->lists[0].size());
      const std::string_view texts[] = {text};
      return Body(WriteFrame(FrameKind::kDecoded, texts));
    }
    std::vector<std::vector<int32_t>> lists;
    for (const auto text : frame->texts) lists.push_back(EncodeAlone(text));
    return Body(WriteFrame(FrameKind::kEncoded, lists));
  }

 private:
  Script& script_;
};

class CodecTest : public ::testing::Test {
 protected:
  std::unique_ptr<TextCodec> Make(size_t part_bytes = 16,
                                  std::optional<int32_t> end = kEnd) {
    return MakeSentencePieceCodec(
        "the model", Characters(),
        [this]() -> absl::StatusOr<std::unique_ptr<Channel>> {
          ++script_.opened;
          if (!script_.open_fails.ok()) return script_.open_fails;
          return std::make_unique<FakeChannel>(script_);
        },
        {.document_end = end, .part_bytes = part_bytes});
  }
  // What one text alone is, with its end.
  static std::vector<int32_t> Whole(std::string_view text) {
    std::vector<int32_t> tokens = EncodeAlone(text);
    tokens.push_back(kEnd);
    return tokens;
  }

  Script script_;
};

TEST_F(CodecTest, DocumentsEndWithTheirToken) {
  const auto codec = Make();
  EXPECT_EQ(codec->vocab_size(), 9);
  EXPECT_EQ(codec->document_end(), kEnd);
  std::vector<int32_t> tokens;
  ASSERT_TRUE(codec->AppendDocument("a b", tokens).ok());
  ASSERT_TRUE(codec->AppendDocument("", tokens).ok());
  EXPECT_EQ(tokens, (std::vector<int32_t>{3, 5, 3, 6, 2, 2}));
  tokens.clear();
  ASSERT_TRUE(Make(16, std::nullopt)->AppendDocument("a b", tokens).ok());
  EXPECT_EQ(tokens, (std::vector<int32_t>{3, 5, 3, 6}));
}

TEST_F(CodecTest, ManyDocumentsAreOneQuestion) {
  const auto codec = Make();
  std::vector<int32_t> expected;
  const std::vector<std::string> texts(500, "ab cd");
  for (const std::string& text : texts) {
    const std::vector<int32_t> whole = Whole(text);
    expected.insert(expected.end(), whole.begin(), whole.end());
  }
  std::vector<int32_t> tokens;
  ASSERT_TRUE(codec->AppendDocuments(texts, tokens).ok());
  EXPECT_EQ(tokens, expected);
  // The first opened the model.
  EXPECT_EQ(script_.asked, 2);
}

TEST_F(CodecTest, PartsHaveTheTokensOfTheWhole) {
  constexpr uint64_t kSeed = 3;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  const auto codec = Make();
  const auto other = codec->Clone();
  int parts = 0;
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 200; ++i) text += "abcd   \n"[random.Below(8)];
    std::vector<int32_t> tokens;
    for (size_t at = 0; at < text.size(); ++parts) {
      const std::string_view rest = std::string_view(text).substr(at);
      const size_t size = codec->PartEnd(rest, 1 + random.Below(60));
      ASSERT_TRUE(other
                      ->AppendPart(rest.substr(0, size),
                                   {at == 0, at + size == text.size()}, tokens)
                      .ok());
      at += size;
    }
    ASSERT_EQ(tokens, Whole(text)) << text;
    // However far the parts were apart.
    std::vector<int32_t> at_once;
    ASSERT_TRUE(codec->AppendDocument(text, at_once).ok());
    ASSERT_EQ(at_once, tokens);
  }
  EXPECT_GT(parts, 1000);
}

TEST_F(CodecTest, QuestionsHaveABound) {
  std::string text;
  for (int i = 0; i < 5'000'000; ++i) text += i % 10 == 9 ? ' ' : 'a';
  std::vector<int32_t> tokens;
  const auto codec = Make(64 << 10);
  ASSERT_TRUE(codec->AppendDocument(text + "b", tokens).ok());
  EXPECT_EQ(tokens.size(), text.size() + 3);
  EXPECT_LT(script_.longest, 1'300'000u);
}

TEST_F(CodecTest, ATextWithoutAPlaceToCutItIsRefusedWhenItIsTooLong) {
  std::vector<int32_t> tokens;
  const absl::Status status =
      Make()->AppendDocument(std::string(17 << 20, 'a'), tokens);
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("17825792 bytes in which this model allows no cut"));
  EXPECT_TRUE(tokens.empty());
}

TEST_F(CodecTest, APromptIsADocumentThatHasNotEnded) {
  const auto codec = Make();
  EXPECT_EQ(codec->Prompt("ab").value(), (std::vector<int32_t>{3, 5, 6}));
  EXPECT_EQ(codec->Prompt("").value(), (std::vector<int32_t>{kEnd}));
  EXPECT_EQ(Make(16, std::nullopt)->Prompt("").value(),
            (std::vector<int32_t>{3, 4}));
}

TEST_F(CodecTest, NothingRunsBeforeItIsNeeded) {
  const auto codec = Make();
  EXPECT_EQ(codec->PartEnd("a b", 3), 3u);
  EXPECT_EQ(script_.opened, 0);
  ASSERT_TRUE(codec->Ready().ok());
  EXPECT_EQ(script_.opened, 1);
  EXPECT_EQ(codec->Decode({{3, 5, 6}}).value(), "3");
  EXPECT_EQ(script_.opened, 1);
  ASSERT_TRUE(codec->Clone()->Ready().ok());
  EXPECT_EQ(script_.opened, 2);
}

TEST_F(CodecTest, AProgramThatIsMissingIsSaidAtOnce) {
  script_.open_fails = absl::FailedPreconditionError("there is none");
  const auto codec = Make();
  EXPECT_EQ(codec->Ready(), script_.open_fails);
  std::vector<int32_t> tokens;
  EXPECT_EQ(codec->AppendDocument("a", tokens), script_.open_fails);
}

TEST_F(CodecTest, ATokenThatIsNoneIsNotAskedAbout) {
  const auto codec = Make();
  for (const int32_t token : {-1, 9}) {
    EXPECT_TRUE(absl::IsInvalidArgument(codec->Decode({{token}}).status()));
  }
  EXPECT_EQ(script_.asked, 0);
}

// What a program that is broken may say.
TEST_F(CodecTest, AWrongAnswerIsAnErrorAndTheNextCallBeginsAnew) {
  const std::string_view two_lines[] = {"it is\nbroken\x01"};
  const std::string_view no_texts[] = {"a", "b"};
  const std::vector<int32_t> others[] = {{9}};
  const std::vector<int32_t> negative[] = {{-1}};
  const std::vector<int32_t> more[] = {{3}, {3}};
  const std::vector<absl::StatusOr<std::string>> answers = {
      absl::InternalError("it was killed"),
      std::string("rubbish"),
      std::string(),
      Body(WriteFrame(FrameKind::kFailed, two_lines)),
      Body(WriteFrame(FrameKind::kDecoded, no_texts)),
      Body(WriteFrame(FrameKind::kEncoded, others)),
      Body(WriteFrame(FrameKind::kEncoded, negative)),
      Body(WriteFrame(FrameKind::kEncoded, more))};
  const auto codec = Make();
  for (const auto& answer : answers) {
    script_.next = answer;
    std::vector<int32_t> tokens;
    const absl::Status status = codec->AppendDocument("a", tokens);
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
    EXPECT_TRUE(tokens.empty());
    ASSERT_TRUE(codec->AppendDocument("a", tokens).ok());
    EXPECT_EQ(tokens, (std::vector<int32_t>{3, 5, 2}));
  }
}

TEST_F(CodecTest, ALibraryThatSeesAnotherModelIsNotUsed) {
  script_.vocab_size = 8;
  EXPECT_TRUE(absl::IsInternal(Make()->Ready()));
}

// The library puts a mark before each; whoever drops it has to see it.
TEST_F(CodecTest, APartThatBeginsOtherwiseIsNotTaken) {
  const auto codec = Make();
  const std::string text = "aaaaaaaaaaaaaaaaaaaa\nb";
  ASSERT_EQ(codec->PartEnd(text, 1), 20u);
  std::vector<std::vector<int32_t>> lists = {{3, 5}, {4, 6}};
  script_.next = Body(WriteFrame(FrameKind::kEncoded, lists));
  std::vector<int32_t> tokens;
  ASSERT_TRUE(codec->Ready().ok());
  EXPECT_TRUE(absl::IsInternal(codec->AppendDocument(text, tokens)));
}

}  // namespace
}  // namespace skerry::data
