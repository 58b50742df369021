#include "tests/exhaustive/search.h"

#include <memory>
#include <unordered_set>

namespace skerry::exhaustive {
namespace {

// One state in so many is followed to the job's end, and every one in which
// nothing can happen any more.
constexpr uint64_t kEndsShare = 64;

struct Place {
  std::unique_ptr<Model> model;
  std::vector<Action> actions;
  size_t next = 0;
};

class Search {
 public:
  Search(const Scenario& scenario, uint64_t states_max)
      : scenario_(scenario), states_max_(states_max) {}

  Explored Run() {
    Visit(std::make_unique<Model>(scenario_, found_));
    while (!way_.empty() && out_.broken.empty()) {
      Place& place = way_.back();
      if (place.next == place.actions.size()) {
        way_.pop_back();
        if (!taken_.empty()) taken_.pop_back();
        continue;
      }
      if (out_.states >= states_max_) return out_;
      const Action action = place.actions[place.next++];
      // The last one may change the state itself.
      const bool last = place.next == place.actions.size();
      auto model = std::make_unique<Model>(*place.model);
      if (last) place.model.reset();
      model->Do(action);
      ++out_.steps;
      taken_.push_back(ToText(action));
      if (!Visit(std::move(model))) taken_.pop_back();
    }
    out_.complete = out_.broken.empty();
    return out_;
  }

 private:
  // Whether the state is new.
  bool Visit(std::unique_ptr<Model> model) {
    Look();
    const uint64_t hash = model->Hash();
    if (!seen_.insert(hash).second) return false;
    ++out_.states;
    std::vector<Action> actions = model->Actions(true);
    if (actions.empty() || hash % kEndsShare == 0) FollowToEnd(*model);
    way_.push_back({std::move(model), std::move(actions), 0});
    return true;
  }

  void FollowToEnd(const Model& model) {
    ++out_.ends;
    Model copy(model);
    std::vector<std::string> way = {"and then"};
    const bool ends = copy.RunsToItsEnd(&way);
    if (!ends) found_.Add("the job does not come to its end");
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

  const Scenario scenario_;
  const uint64_t states_max_;
  sim::Violations found_;
  Explored out_;
  std::vector<Place> way_;
  // The actions that led to each place but the first.
  std::vector<std::string> taken_;
  std::unordered_set<uint64_t> seen_;
};

}  // namespace

Explored Explore(const Scenario& scenario, uint64_t states_max) {
  return Search(scenario, states_max).Run();
}

}  // namespace skerry::exhaustive
