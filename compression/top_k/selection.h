// compression/top_k/selection.h
//
// Selects the values of a slice that are sent, in parts that fit a second-level
// cache. The selection depends on the values alone. The slice is read once, and
// the candidates are kept in the first `parts` of workspace.parts. Counts and
// one magnitude tell which of them are sent, so a writer reads the candidates
// only once as well.
#ifndef SKERRY_COMPRESSION_TOP_K_SELECTION_H_
#define SKERRY_COMPRESSION_TOP_K_SELECTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "absl/functional/function_ref.h"
#include "compression/top_k/cpu/candidates.h"
#include "compression/top_k/cpu/sent.h"
#include "compression/workspace.h"

namespace skerry::compression {

struct Selection {
  size_t elements = 0;
  size_t parts = 1;
  size_t part_size = 0;  // values of each but the last
  size_t sent = 0;
  uint32_t above = 0;  // candidates of greater magnitudes are sent
  bool cut = false;    // more would have been selected, or were not looked at
};

// Which values of a part are candidates, and which of these must be looked at
// again.
struct Wanted {
  uint32_t low;   // may be sent: magnitudes of at least this
  uint32_t high;  // and below this, looked at again
  size_t most;    // more than this are not needed
  size_t room;    // for how many in the usual case
};
// Keeps the candidates of a part's values in some form, and leaves its band.
// Counts the values that it found and those above the band, and says whether
// all are finite.
using CollectPart = absl::FunctionRef<void(std::span<const float>,
                                           const Wanted&, PartScratch&)>;

// Collects them as values with their places (top_k/cpu/candidates.h).
void CollectValues(std::span<const float> values, const Wanted& wanted,
                   PartScratch& part);

// Selects the k largest magnitudes, of equal ones the first. Returns nothing
// when a value is not finite. Reads the slice once if a sample tells about
// where the k-th lies. Requires: 1 <= k <= values.size().
std::optional<Selection> SelectTopK(std::span<const float> values, size_t k,
                                    Workspace& workspace,
                                    CollectPart collect = CollectValues);

// Selects magnitudes of at least `bits`; if there are more than `most`, the
// first of them. Values that are not finite are among them, unless they are
// cut. Requires: 1 <= bits < 2^31.
Selection SelectAtLeast(std::span<const float> values, uint32_t bits,
                        size_t most, Workspace& workspace);

// Whether all that is selected is finite.
bool SelectedFinite(const Selection& selection, const Workspace& workspace);

// Whether every value is finite.
bool EveryFinite(std::span<const float> values, Workspace& workspace);

// Returns the cursor with which cpu::ReadSent begins to read a part, with
// selection.above.
cpu::SentCursor BeginOf(const PartScratch& part);
cpu::Candidates CandidatesOf(const PartScratch& part);

}  // namespace skerry::compression

#endif  // SKERRY_COMPRESSION_TOP_K_SELECTION_H_
