// Which wgmma shapes a kernel uses: a template that knows defines TILEWRIGHT_WGMMA_USED(n), for n
// columns, before it includes a header of wgmma wrappers, so that these are not all parsed, which
// takes as long as half an empty kernel (each header; attention has three).
#ifndef TILEWRIGHT_DEVICE_WGMMA_USED_CUH_
#define TILEWRIGHT_DEVICE_WGMMA_USED_CUH_

#ifndef TILEWRIGHT_WGMMA_USED
#define TILEWRIGHT_WGMMA_USED(n) 1
#endif

#endif  // TILEWRIGHT_DEVICE_WGMMA_USED_CUH_
