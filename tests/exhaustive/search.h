// tests/exhaustive/search.h
//
// Every order of a model's events, each state once.
//
// A model can be copied, and has
//   Step                            one event
//   Actions(with_faults)            what may happen next, in a fixed order
//   Do(step)                        it happens
//   Hash()                          equal for states that go on alike
//   IsBehindBounds()                not tried in every order any more
//   RunsToItsEnd(way)               without faults; whether it ends well
//   IsFault(step), ToText(step)
// and adds what it finds to be broken to the violations that it was made with.
#ifndef SKERRY_TESTS_EXHAUSTIVE_SEARCH_H_
#define SKERRY_TESTS_EXHAUSTIVE_SEARCH_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/sim/check/violations.h"

namespace skerry::exhaustive {

struct Explored {
  uint64_t states = 0;
  // From each state each action once.
  uint64_t transitions = 0;
  // States from which the way to the end was tried.
  uint64_t ends = 0;
  // Whether nothing was left when it stopped.
  bool complete = false;
  // What is broken, and the way there; empty when nothing is.
  std::string broken;
  std::vector<std::string> path;
};

// Depth first. States in which only faults can happen are followed to the end,
// and of the others one in `ends_share`.
template <typename Model>
class Search {
 public:
  // Explores from `start`, which was made with `found`, at most `states_max`
  // states.
  Search(std::unique_ptr<Model> start, sim::Violations& found,
         uint64_t states_max, uint64_t ends_share = 64)
      : found_(found), states_max_(states_max), ends_share_(ends_share) {
    Visit(std::move(start));
  }

  Explored Run() {
    while (!way_.empty() && out_.broken.empty()) {
      Place& place = way_.back();
      if (place.next == place.actions.size()) {
        way_.pop_back();
        if (!taken_.empty()) taken_.pop_back();
        continue;
      }
      if (out_.states >= states_max_) return out_;
      const typename Model::Step action = place.actions[place.next++];
      // The last one may change the state itself.
      const bool last = place.next == place.actions.size();
      auto model =
          last ? std::move(place.model) : std::make_unique<Model>(*place.model);
      taken_.push_back(Model::ToText(action));
      model->Do(action);
      ++out_.transitions;
      if (!Visit(std::move(model))) taken_.pop_back();
    }
    out_.complete = out_.broken.empty();
    return out_;
  }

 private:
  struct Place {
    std::unique_ptr<Model> model;
    std::vector<typename Model::Step> actions;
    size_t next = 0;
  };

  // Whether the state is new, and goes on.
  bool Visit(std::unique_ptr<Model> model) {
    Look();
    const uint64_t hash = model->Hash();
    if (!seen_.insert(hash).second) return false;
    ++out_.states;
    std::vector<typename Model::Step> actions;
    const bool behind = model->IsBehindBounds();
    if (!behind) actions = model->Actions(true);
    const bool is_stuck =
        !behind && std::all_of(actions.begin(), actions.end(), Model::IsFault);
    if (is_stuck || hash % ends_share_ == 0) FollowToEnd(*model);
    if (actions.empty()) return false;
    way_.push_back({std::move(model), std::move(actions), 0});
    return true;
  }

  void FollowToEnd(const Model& model) {
    ++out_.ends;
    Model copy(model);
    std::vector<std::string> way = {"and then"};
    if (!copy.RunsToItsEnd(&way)) found_.Add("it does not come to its end");
    const size_t before = taken_.size();
    taken_.insert(taken_.end(), way.begin(), way.end());
    Look();
    taken_.resize(before);
  }

  void Look() {
    if (found_.count() == 0 || !out_.broken.empty()) return;
    out_.broken = found_.first()[0];
    out_.path = taken_;
  }

  sim::Violations& found_;
  const uint64_t states_max_;
  const uint64_t ends_share_;
  Explored out_;
  std::vector<Place> way_;
  // The actions that led to each place but the first.
  std::vector<std::string> taken_;
  std::unordered_set<uint64_t> seen_;
};

}  // namespace skerry::exhaustive

#endif  // SKERRY_TESTS_EXHAUSTIVE_SEARCH_H_
