#include "tests/exhaustive/frame_scenarios.h"

namespace skerry::exhaustive {
namespace {

// Two parts.
constexpr uint64_t kTwoParts = 256;
constexpr uint64_t kOnePart = 64;

}  // namespace

FrameScenario PartsInAnyOrderAndAgain() {
  FrameScenario scenario;
  scenario.places = {{0, 0, 2}, {1, 0, 2}};
  scenario.spans = {kTwoParts, kOnePart};
  scenario.budget = {.repeats = 1};
  return scenario;
}

FrameScenario OneHop() {
  FrameScenario scenario;
  scenario.places = {{0, 0, 1}, {1, 0, 1}};
  scenario.spans = {kTwoParts};
  scenario.hops = protocol::Hops::kOne;
  scenario.codec = "int8_block";
  scenario.budget = {.repeats = 1};
  return scenario;
}

FrameScenario AttemptsThatReplaceEachOther() {
  FrameScenario scenario;
  scenario.places = {{0, 0, 1}, {1, 0, 1}};
  scenario.spans = {kOnePart};
  scenario.codec = "int8_block";
  scenario.budget = {.reopens = 1, .repeats = 1, .kills = 1};
  return scenario;
}

FrameScenario AttemptsOfMany() {
  FrameScenario scenario;
  scenario.places = {{0, 0, 2}, {1, 0, 2}, {2, 0, 2}};
  scenario.spans = {kOnePart, kOnePart};
  scenario.codec = "int8_block";
  scenario.slow_work = false;
  scenario.budget = {.reopens = 1, .majorities = 1};
  return scenario;
}

FrameScenario ALateMember() {
  FrameScenario scenario;
  scenario.places = {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}};
  scenario.spans = {kOnePart};
  scenario.budget = {.majorities = 1};
  return scenario;
}

FrameScenario AReplicaOfTwo() {
  FrameScenario scenario;
  scenario.places = {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}};
  scenario.spans = {kOnePart, kOnePart};
  scenario.slow_work = false;
  scenario.budget = {.reopens = 2, .repeats = 1};
  return scenario;
}

}  // namespace skerry::exhaustive
