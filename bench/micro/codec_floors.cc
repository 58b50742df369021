#include "bench/micro/codec_floors.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

#include "base/random.h"
#include "bench/micro/memory_floor.h"
#include "compression/dense/cpu/stores.h"
#include "compression/parts.h"

namespace skerry::bench {
namespace {

constexpr size_t kElements = Buffers::kElements;

// Bytes of values that one call of a loop works on. They are as many as codecs
// take at a time, or more where few values are touched, because codecs then cut
// the values that are sent.
constexpr size_t kPartBytes = compression::kPartElements * sizeof(float);
constexpr size_t kTouchedBytes = 16 * kPartBytes;

constexpr size_t kLongPartBytes[] = {kTouchedBytes, 8 * kTouchedBytes};
// How far ahead loops ask memory.
constexpr size_t kAheadBytes[] = {0, 512, 4096};
constexpr std::initializer_list<Way> kEveryWay = {
    Way::kGroups, Way::kGroupsPastCaches, Way::kSteps};

// Places of `size` values of which `sent` of `all` are sent, ascending.
std::vector<uint32_t> DrawPlaces(size_t size, size_t sent, size_t all) {
  Random random(2);
  std::vector<uint32_t> places;
  for (uint32_t i = 0; i < size; ++i) {
    if (random.Below(all) < sent) places.push_back(i);
  }
  return places;
}

// by(way, how far ahead, bytes of a part): each way in parts as codecs have
// them, and some of `ways` in longer ones, which some memory is faster for.
template <typename By>
Floors EveryWay(std::initializer_list<Way> ways, const By& by) {
  Floors floors;
  for (const Way way : ways) {
    for (const size_t ahead_bytes : kAheadBytes) {
      floors.push_back(by(way, ahead_bytes, kPartBytes));
    }
    if (way == Way::kGroups) continue;
    for (const size_t part : kLongPartBytes) {
      floors.push_back(by(way, 0, part));
    }
  }
  return floors;
}

}  // namespace

Buffers::Buffers(const std::vector<float>& values) {
  for (Set& set : sets_) {
    set.values = values;
    set.decoded.resize(values.size());
  }
}

template <typename Loop>
InTurns::Work CodecFloors::Floor(Loop loop, size_t part_bytes) {
  return [this, loop, part_bytes] {
    Buffers::Set& set = buffers_.Next();
    const size_t parts = kElements * sizeof(float) / part_bytes;
    executor_.ForEach(parts, [&](size_t index) {
      const size_t at = index * part_bytes;
      const size_t payload_at = index * set.payload.size() / parts;
      const size_t payload_end = (index + 1) * set.payload.size() / parts;
      loop(Part{
          index, std::as_bytes(std::span(set.values)).subspan(at, part_bytes),
          std::span(set.payload).subspan(payload_at, payload_end - payload_at),
          std::span(set.decoded)
              .subspan(at / sizeof(float), part_bytes / sizeof(float))});
    });
  };
}

Floors CodecFloors::Encoders(bool sparse) {
  const auto narrow = [&](Way way, size_t ahead_bytes, size_t part_bytes) {
    return Floor(
        [way, ahead_bytes](const Part& part) {
          FloorNarrow(part.values, part.payload, way, ahead_bytes);
        },
        part_bytes);
  };
  // Sparse codecs store ordinarily alone.
  if (sparse) return EveryWay({Way::kGroups, Way::kSteps}, narrow);
  Floors floors = EveryWay(kEveryWay, narrow);
  if (buffers_.sets()[0].payload.size() != kElements * sizeof(float)) {
    return floors;
  }
  // A copy is a decoder's loop as well.
  for (auto& floor :
       EveryWay(kEveryWay, [&](Way way, size_t ahead_bytes, size_t part_bytes) {
         return Floor(
             [way, ahead_bytes](const Part& part) {
               FloorWiden(part.values, part.payload, way, ahead_bytes);
             },
             part_bytes);
       })) {
    floors.push_back(std::move(floor));
  }
  return floors;
}

Floors CodecFloors::Decoders(bool sparse) {
  if (sparse) {
    Floors floors;
    for (const size_t part_bytes : {kPartBytes, kTouchedBytes}) {
      for (const size_t run : {kPartBytes / 16, kPartBytes / 4, kPartBytes}) {
        floors.push_back(Floor(
            [run](const Part& part) {
              FloorClear(part.payload, part.Decoded(), run);
            },
            part_bytes));
      }
    }
    return floors;
  }
  const auto widen = [&](auto way_of, size_t ahead_bytes, size_t part_bytes) {
    return Floor(
        [way_of, ahead_bytes](const Part& part) {
          FloorWiden(part.payload, part.Decoded(), way_of(part.index),
                     ahead_bytes);
        },
        part_bytes);
  };
  Floors floors =
      EveryWay(kEveryWay, [&](Way way, size_t ahead_bytes, size_t part_bytes) {
        return widen([way](size_t) { return way; }, ahead_bytes, part_bytes);
      });
  // Some parts past the caches alone, as codecs have them.
  for (const Way past : {Way::kGroupsPastCaches, Way::kSteps}) {
    const auto way_of = [past](size_t index) {
      const auto stores =
          compression::cpu::StoresForPart(kElements * sizeof(float), index);
      return stores == compression::cpu::Stores::kCached ? Way::kGroups : past;
    };
    for (const size_t ahead_bytes : kAheadBytes) {
      floors.push_back(widen(way_of, ahead_bytes, kPartBytes));
    }
  }
  return floors;
}

Floors CodecFloors::Adders(size_t sent) {
  Floors floors = EveryWay({Way::kGroups, Way::kSteps},
                           [&](Way way, size_t ahead_bytes, size_t part_bytes) {
                             return Floor(
                                 [way, ahead_bytes](const Part& part) {
                                   FloorUpdate(part.payload, part.Decoded(),
                                               way, ahead_bytes);
                                 },
                                 part_bytes);
                           });
  // All lines of the cache are touched.
  if (sent >= kElements / 8) return floors;
  const std::vector<uint32_t> places =
      DrawPlaces(kTouchedBytes / sizeof(float), sent, kElements);
  for (const size_t ahead : {8, 16, 32, 64, 128, 256}) {
    floors.push_back(Floor(
        [ahead, places](const Part& part) {
          FloorTouch(part.payload, places, ahead, part.decoded);
        },
        kTouchedBytes));
  }
  return floors;
}

}  // namespace skerry::bench
