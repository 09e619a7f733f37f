#include "runtime/measure/l2_flush.h"

#include <algorithm>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kTimesL2 = 4;
constexpr int64_t kLeastBytes = int64_t{1} << 20;
constexpr uint32_t kThreads = 256;
constexpr uint32_t kBlocksPerSm = 8;
constexpr uint32_t kContent = 0x3f800000;

// In PTX, which the driver compiles for any device: timing then needs no compiler. Every thread
// reads pieces a grid apart; the store, of all bits ever seen, is never reached with kContent.
constexpr char kReadPtx[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry tilewright_read(.param .u64 from, .param .u64 pieces)
{
  .reg .pred %p<2>;
  .reg .b32 %r<9>;
  .reg .b64 %d<6>;
  ld.param.u64 %d0, [from];
  ld.param.u64 %d1, [pieces];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %nctaid.x;
  mul.wide.u32 %d2, %r0, %r1;
  cvt.u64.u32 %d3, %r2;
  add.u64 %d2, %d2, %d3;
  mul.wide.u32 %d4, %r3, %r1;
  mov.u32 %r4, 0;
next:
  setp.ge.u64 %p0, %d2, %d1;
  @%p0 bra done;
  shl.b64 %d5, %d2, 4;
  add.u64 %d5, %d0, %d5;
  ld.global.cg.v4.u32 {%r5, %r6, %r7, %r8}, [%d5];
  or.b32 %r5, %r5, %r6;
  or.b32 %r7, %r7, %r8;
  or.b32 %r4, %r4, %r5;
  or.b32 %r4, %r4, %r7;
  add.u64 %d2, %d2, %d4;
  bra next;
done:
  setp.ne.u32 %p1, %r4, 0xffffffff;
  @%p1 ret;
  st.global.u32 [%d0], %r4;
  ret;
}
)";

}  // namespace

absl::StatusOr<std::unique_ptr<L2Flush>> L2Flush::Create(Driver& driver, int device,
                                                         CudaStream stream, int64_t l2_bytes,
                                                         bool clean) {
  std::unique_ptr<L2Flush> flush(new L2Flush(driver));
  const auto bytes = static_cast<size_t>(kTimesL2 * l2_bytes + kLeastBytes) & ~size_t{255};
  flush->pieces_ = bytes / 16;
  TW_ASSIGN_OR_RETURN(flush->buffer_, driver.Alloc(bytes));
  TW_RETURN_IF_ERROR(driver.Fill32(flush->buffer_, kContent, bytes / 4, stream));
  if (!clean) return flush;
  TW_ASSIGN_OR_RETURN(const int sms,
                      driver.Attribute(device, DeviceAttribute::kMultiprocessorCount));
  flush->shape_.grid[0] = kBlocksPerSm * static_cast<uint32_t>(std::max(sms, 1));
  flush->shape_.block[0] = kThreads;
  TW_ASSIGN_OR_RETURN(flush->library_, driver.LoadLibrary({kReadPtx, sizeof(kReadPtx)}));
  TW_ASSIGN_OR_RETURN(flush->kernel_, driver.LibraryKernel(flush->library_, "tilewright_read"));
  return flush;
}

L2Flush::~L2Flush() {
  if (buffer_ != nullptr) driver_.Free(buffer_).IgnoreError();
  if (library_ != nullptr) driver_.UnloadLibrary(library_).IgnoreError();
}

absl::Status L2Flush::Enqueue(CudaStream stream) {
  if (kernel_ == nullptr) return driver_.Fill32(buffer_, kContent, pieces_ * 4, stream);
  void* arguments[] = {&buffer_, &pieces_};
  return driver_.Launch(shape_, kernel_, stream, arguments);
}

}  // namespace tilewright
