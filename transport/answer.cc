#include "transport/answer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace skerry::transport {
namespace {

static_assert(std::endian::native == std::endian::little);

bool IsKnown(uint8_t answer) {
  return answer >= static_cast<uint8_t>(Answer::kAccepted) &&
         answer <= static_cast<uint8_t>(Answer::kHeld);
}

}  // namespace

std::vector<std::byte> EncodeAnswers(std::span<const Answered> answers) {
  std::vector<std::byte> bytes(answers.size() * kAnsweredBytes);
  std::byte* out = bytes.data();
  for (const Answered& answered : answers) {
    std::memcpy(out, &answered.ordinal, sizeof(answered.ordinal));
    out[8] = static_cast<std::byte>(answered.answer);
    out += kAnsweredBytes;
  }
  return bytes;
}

absl::StatusOr<std::vector<Answered>> DecodeAnswers(
    std::span<const std::byte> bytes) {
  if (bytes.size() % kAnsweredBytes != 0) {
    return absl::DataLossError(
        absl::StrCat("answers of ", bytes.size(), " bytes are cut short"));
  }
  std::vector<Answered> answers;
  for (size_t at = 0; at < bytes.size(); at += kAnsweredBytes) {
    const auto record = bytes.subspan(at, kAnsweredBytes);
    const auto answer = static_cast<uint8_t>(record[8]);
    const auto rest = record.subspan(9);
    if (!IsKnown(answer) ||
        std::any_of(rest.begin(), rest.end(),
                    [](std::byte b) { return b != std::byte{0}; })) {
      return absl::DataLossError(
          absl::StrCat("answer ", answer, " is not a known answer"));
    }
    Answered& answered = answers.emplace_back();
    std::memcpy(&answered.ordinal, record.data(), sizeof(answered.ordinal));
    answered.answer = static_cast<Answer>(answer);
  }
  return answers;
}

}  // namespace skerry::transport
