#include "tests/sim/planted/plants.h"

#include <fstream>
#include <sstream>

namespace skerry::sim {

std::vector<PlantedBug> ReadPlants(const std::string& path) {
  std::ifstream file(path);
  std::vector<PlantedBug> bugs;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word, name;
    words >> word;
    if (word == "plant" && words >> name) {
      if (bugs.empty() || bugs.back().name != name) {
        bugs.push_back({name, 0, ""});
      }
    } else if (word == "within" && !bugs.empty()) {
      words >> bugs.back().within >> bugs.back().profile;
    }
  }
  return bugs;
}

}  // namespace skerry::sim
