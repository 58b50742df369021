// cli/number_limits.h
//
// The largest numbers that several commands of skerryctl take.
#ifndef SKERRY_CLI_NUMBER_LIMITS_H_
#define SKERRY_CLI_NUMBER_LIMITS_H_

namespace skerry::cli {

inline constexpr int kThreadsMax = 1024;
// Tokens of one sample.
inline constexpr int kTokensMax = 1 << 24;
// Ids of a tokenizer.
inline constexpr int kVocabMax = 1 << 24;
// A higher temperature draws all tokens alike.
inline constexpr double kTemperatureMax = 100;

}  // namespace skerry::cli

#endif  // SKERRY_CLI_NUMBER_LIMITS_H_
