// trainer/testing/random_config.h
//
// Draws texts of config.json: of both model families, most of them of a small
// model, others of one that nobody can train.
#ifndef SKERRY_TRAINER_TESTING_RANDOM_CONFIG_H_
#define SKERRY_TRAINER_TESTING_RANDOM_CONFIG_H_

#include <string>

#include "base/random.h"

namespace skerry::trainer {

std::string RandomConfig(Random& random);

}  // namespace skerry::trainer

#endif  // SKERRY_TRAINER_TESTING_RANDOM_CONFIG_H_
