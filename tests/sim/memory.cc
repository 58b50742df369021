// Memory for programs that simulate: a fifth of their time went into finding
// it. Blocks of one size come from pages of their own and go back to a list of
// the thread that frees them. Nothing returns to the system, so this is for
// processes that live for one campaign; sanitized builds keep their own.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace skerry::sim {
namespace {

// Pages begin at multiples of their size, so that a block finds its page.
constexpr size_t kPageBytes = size_t{1} << 18;
constexpr size_t kHeadBytes = 64;
// Larger blocks are the library's.
constexpr size_t kBlockBytesMax = size_t{1} << 15;
constexpr size_t kFineBytesMax = 1024;
constexpr size_t kFineBytes = 16;
constexpr size_t kCoarseBytes = 512;
constexpr size_t kFineClasses = kFineBytesMax / kFineBytes + 1;
constexpr size_t kClasses =
    kFineClasses + (kBlockBytesMax - kFineBytesMax) / kCoarseBytes;
// Addresses, not memory: enough for all that a process can use.
constexpr size_t kRegionBytes = size_t{1} << 34;

struct Block {
  Block* next;
};
struct Page {
  size_t size_class;
};
struct Room {
  char* next = nullptr;
  size_t left = 0;
};

thread_local Block* free_blocks[kClasses];
thread_local Room rooms[kClasses];

size_t ClassOf(size_t bytes) {
  if (bytes <= kFineBytesMax) return (bytes + kFineBytes - 1) / kFineBytes;
  return kFineClasses - 1 +
         (bytes - kFineBytesMax + kCoarseBytes - 1) / kCoarseBytes;
}

size_t BytesOf(size_t size_class) {
  if (size_class == 0) return kFineBytes;
  if (size_class < kFineClasses) return size_class * kFineBytes;
  return kFineBytesMax + (size_class - kFineClasses + 1) * kCoarseBytes;
}

char* Region() {
  static char* const region = [] {
    void* const at = mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) std::abort();
    const auto address = reinterpret_cast<uintptr_t>(at);
    return reinterpret_cast<char*>((address + kPageBytes - 1) / kPageBytes *
                                   kPageBytes);
  }();
  return region;
}

bool IsOurs(const void* block) {
  static char* const region = Region();
  return static_cast<size_t>(static_cast<const char*>(block) - region) <
         kRegionBytes - kPageBytes;
}

char* NewPage() {
  static size_t pages = 0;
  const size_t page = __atomic_fetch_add(&pages, 1, __ATOMIC_RELAXED);
  if ((page + 2) * kPageBytes > kRegionBytes) std::abort();
  return Region() + page * kPageBytes;
}

void* NewBlock(size_t size_class) {
  const size_t bytes = BytesOf(size_class);
  Room& room = rooms[size_class];
  if (room.left < bytes) {
    char* const page = NewPage();
    reinterpret_cast<Page*>(page)->size_class = size_class;
    room = {page + kHeadBytes, kPageBytes - kHeadBytes};
  }
  char* const block = room.next;
  room.next += bytes;
  room.left -= bytes;
  return block;
}

void* Allocate(size_t bytes) {
  if (bytes > kBlockBytesMax) {
    void* const block = std::malloc(bytes);
    if (block == nullptr) std::abort();
    return block;
  }
  const size_t size_class = ClassOf(bytes);
  Block* const block = free_blocks[size_class];
  if (block == nullptr) return NewBlock(size_class);
  free_blocks[size_class] = block->next;
  return block;
}

void Free(void* memory) {
  if (!IsOurs(memory)) {
    std::free(memory);
    return;
  }
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const auto* const page =
      reinterpret_cast<const Page*>(address / kPageBytes * kPageBytes);
  auto* const block = static_cast<Block*>(memory);
  block->next = free_blocks[page->size_class];
  free_blocks[page->size_class] = block;
}

}  // namespace
}  // namespace skerry::sim

void* operator new(size_t bytes) { return skerry::sim::Allocate(bytes); }
void operator delete(void* memory) noexcept { skerry::sim::Free(memory); }
void operator delete(void* memory, size_t) noexcept {
  skerry::sim::Free(memory);
}

#endif
