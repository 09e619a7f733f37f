#include "tests/runtime/allocation_count.h"

#include <cstdlib>
#include <new>

namespace tilewright {
namespace {
thread_local int64_t allocations = 0;
}  // namespace
int64_t AllocationsOfThisThread() { return allocations; }

static void* TryAllocate(size_t bytes, size_t alignment) {
  ++allocations;
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
static void* Allocate(size_t bytes, size_t alignment) {
  void* memory = TryAllocate(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace tilewright

// The whole set: where one is left to the library, memory of one owner is freed by another.
void* operator new(size_t bytes) { return tilewright::Allocate(bytes, 16); }
void* operator new[](size_t bytes) { return tilewright::Allocate(bytes, 16); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return tilewright::Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return tilewright::Allocate(bytes, static_cast<size_t>(alignment));
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  return tilewright::TryAllocate(bytes, 16);
}
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept {
  return tilewright::TryAllocate(bytes, 16);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
