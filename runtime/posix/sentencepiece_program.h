// runtime/posix/sentencepiece_program.h
//
// Starts skerry-sentencepiece, the process in which models of sentencepiece
// encode.
#ifndef SKERRY_RUNTIME_POSIX_SENTENCEPIECE_PROGRAM_H_
#define SKERRY_RUNTIME_POSIX_SENTENCEPIECE_PROGRAM_H_

#include <string>

#include "data/sentencepiece/channel.h"

namespace skerry::runtime {

// Returns the path where it lies if it was installed beside this program.
std::string SentencePieceBeside();

// Starts `program`, once for every channel.
data::OpenChannel SentencePieceProgram(std::string program);

}  // namespace skerry::runtime

#endif  // SKERRY_RUNTIME_POSIX_SENTENCEPIECE_PROGRAM_H_
