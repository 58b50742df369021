// protocol/program_fact.h
//
// Defines a training program that a worker's operator allows jobs to run.
#ifndef SKERRY_PROTOCOL_PROGRAM_FACT_H_
#define SKERRY_PROTOCOL_PROGRAM_FACT_H_

#include <string>

namespace skerry::protocol {

struct ProgramFact {
  std::string name;
  // SHA-256 of its file, 64 lower-case hex digits; empty when the file cannot
  // be read.
  std::string sha256;

  friend bool operator==(const ProgramFact&, const ProgramFact&) = default;
};

}  // namespace skerry::protocol

#endif  // SKERRY_PROTOCOL_PROGRAM_FACT_H_
