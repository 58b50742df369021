// compression/testing/codec_inputs.h
//
// Makes the inputs on which codecs and their twins are compared.
#ifndef SKERRY_COMPRESSION_TESTING_CODEC_INPUTS_H_
#define SKERRY_COMPRESSION_TESTING_CODEC_INPUTS_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace skerry::compression {

// One input that codecs find hard.
struct CodecInput {
  std::string_view name;
  std::vector<float> values;
};

// Constants, zeros of both signs, subnormals, the largest floats, ties, sparse
// spikes and random values over many sizes around block and vector lengths.
std::vector<CodecInput> CodecInputs(uint64_t seed);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TESTING_CODEC_INPUTS_H_
