#include "planner/exchange_time.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"

namespace skerry::planner {
namespace {

bool IsPositive(double value) { return value > 0.0 && std::isfinite(value); }

bool AllPositive(const std::vector<CodecSpeed>& speeds) {
  return std::all_of(speeds.begin(), speeds.end(), [](const CodecSpeed& one) {
    return IsPositive(one.encode) && IsPositive(one.decode);
  });
}

CodecSpeed SpeedOf(const ExchangeMember& member, size_t codec) {
  return codec < member.codec_speeds.size() ? member.codec_speeds[codec]
                                            : CodecSpeed();
}

double Cautious(double rate, const LinkFacts& link) {
  return rate / (1.0 + link.rate_spread);
}

double OneWaySeconds(const LinkFacts& a, const LinkFacts& b) {
  const auto cautious = [](const LinkFacts& link) {
    return absl::ToDoubleSeconds(link.round_trip + link.round_trip_spread);
  };
  return std::max(cautious(a), cautious(b)) / 2;
}

}  // namespace

absl::Status ValidateShape(const ExchangeShape& shape) {
  if (shape.members.empty() || shape.elements == 0 ||
      (shape.hops != 1 && shape.hops != 2)) {
    return absl::InvalidArgumentError(
        "an exchange needs a member, an element, and one or two hops");
  }
  uint64_t owned = 0;
  for (const ExchangeMember& member : shape.members) {
    const LinkFacts& link = member.link;
    if (!IsPositive(link.up_bytes_per_s) ||
        !IsPositive(link.down_bytes_per_s) || !IsPositive(member.weight) ||
        !AllPositive(member.codec_speeds) ||
        !(link.rate_spread >= 0.0 && std::isfinite(link.rate_spread)) ||
        !(link.round_trip >= absl::ZeroDuration()) ||
        !(link.round_trip_spread >= absl::ZeroDuration()) ||
        member.owned_elements > shape.elements - owned) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "replica %d: rates, weight and speed have to be positive, spreads "
          "and delays at least 0, and no element owned twice",
          member.replica.value()));
    }
    owned += member.owned_elements;
  }
  if (shape.hops == 2 && owned != shape.elements) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%d of %d elements have an owner", owned, shape.elements));
  }
  return absl::OkStatus();
}

void SetOwners(std::span<const uint64_t> span_elements,
               std::span<const uint32_t> owners, ExchangeShape& shape) {
  for (ExchangeMember& member : shape.members) member.owned_elements = 0;
  for (size_t s = 0; s < span_elements.size(); ++s) {
    shape.members[owners[s]].owned_elements += span_elements[s];
  }
}

HopSeconds TimesOf(const ExchangeShape& shape, size_t member, size_t codec,
                   const CodecCost& cost) {
  HopSeconds times;
  const ExchangeMember& self = shape.members[member];
  const auto others = static_cast<double>(shape.members.size() - 1);
  const auto all = static_cast<double>(shape.elements);
  const double up = Cautious(self.link.up_bytes_per_s, self.link) /
                    cost.bytes_per_element;  // elements a second
  const bool one_hop = shape.hops == 1;
  const auto owned = static_cast<double>(one_hop ? 0 : self.owned_elements);
  const double contributed = one_hop ? others * all : all - owned;
  for (size_t j = 0; j < shape.members.size(); ++j) {
    if (j == member) continue;
    const ExchangeMember& to = shape.members[j];
    const double down =
        Cautious(to.link.down_bytes_per_s, to.link) / cost.bytes_per_element;
    const double decode =
        cost.decode_elements_per_s * SpeedOf(to, codec).decode;
    const double delay = OneWaySeconds(self.link, to.link);
    const auto to_owned = static_cast<double>(to.owned_elements);
    const auto arrived = [&](double sent, double taken) {
      return std::max(sent / up, taken / down) + delay + taken / decode;
    };
    if (one_hop || to.owned_elements > 0) {
      const double taken = others * (one_hop ? all : to_owned);
      times.first = std::max(times.first, arrived(contributed, taken));
    }
    if (owned > 0.0) {
      times.second =
          std::max(times.second, arrived(others * owned, all - to_owned));
    }
  }
  const double encode =
      cost.encode_elements_per_s * SpeedOf(self, codec).encode;
  if (times.first > 0.0) {
    times.first += (one_hop ? all : contributed) / encode;
  }
  if (times.second > 0.0) times.second += owned / encode;
  return times;
}

double RateOf(const LinkFacts& link) {
  return Cautious(std::min(link.up_bytes_per_s, link.down_bytes_per_s), link);
}

double LinkSeconds(const ExchangeShape& shape, size_t member,
                   double bytes_per_element) {
  const size_t count = shape.members.size();
  if (count == 1) return 0.0;
  const ExchangeMember& self = shape.members[member];
  const auto all = static_cast<double>(shape.elements);
  const double elements =
      shape.hops == 1 ? static_cast<double>(count - 1) * all
                      : all + static_cast<double>(count - 2) *
                                  static_cast<double>(self.owned_elements);
  return elements * bytes_per_element / RateOf(self.link);
}

absl::Duration LinkTime(const ExchangeShape& shape,
                        std::span<const double> bytes_per_element) {
  double busiest = 0.0;
  double delay = 0.0;
  for (size_t m = 0; m < shape.members.size(); ++m) {
    const LinkFacts& link = shape.members[m].link;
    busiest = std::max(busiest, LinkSeconds(shape, m, bytes_per_element[m]));
    delay = std::max(delay, OneWaySeconds(link, link));
  }
  if (shape.members.size() == 1) return absl::ZeroDuration();
  return absl::Seconds(busiest + shape.hops * delay);
}

}  // namespace skerry::planner
