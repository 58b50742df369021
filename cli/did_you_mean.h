// cli/did_you_mean.h
//
// Finds the word that a mistyped one was probably meant to be.
#ifndef SKERRY_CLI_DID_YOU_MEAN_H_
#define SKERRY_CLI_DID_YOU_MEAN_H_

#include <string>
#include <vector>

namespace skerry::cli {

// "; did you mean X?" with the nearest of `known`, or nothing when none is
// near: at most a third of the letters differ, two in a short word.
std::string DidYouMean(const std::string& word,
                       const std::vector<std::string>& known);

}  // namespace skerry::cli

#endif  // SKERRY_CLI_DID_YOU_MEAN_H_
