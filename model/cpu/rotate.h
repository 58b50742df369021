// model/cpu/rotate.h
//
// Turns the pairs (i, i + head_size / 2) of every head by its token's position
// (model/spec/rotary.h makes the tables).
#ifndef SKERRY_MODEL_CPU_ROTATE_H_
#define SKERRY_MODEL_CPU_ROTATE_H_

namespace skerry::model::cpu {

struct RotateShape {
  int tokens = 0;  // of sequences of `columns`, one after the other
  int first = 0;   // where the first token lies in its sequence
  int columns = 0;
  int heads = 0;
  int head_size = 0;
};

// In place, on rows of heads * head_size floats. The tables hold head_size / 2
// cosines and sines for each of `columns` positions.
void RotateForward(const RotateShape& shape, const float* cosines,
                   const float* sines, float* x);

// The transposed turn: from the gradient of the output to that of the input.
void RotateBackward(const RotateShape& shape, const float* cosines,
                    const float* sines, float* dx);

}  // namespace skerry::model::cpu

#endif  // SKERRY_MODEL_CPU_ROTATE_H_
