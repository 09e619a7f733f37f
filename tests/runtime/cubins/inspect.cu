// Source of the committed fixtures, made with CUDA 13.0:
//   nvcc -cubin -arch=sm_90a -Xptxas -v inspect.cu -o inspect_sm90a.cubin
//   nvcc -cubin -arch=sm_80 -Xptxas -v inspect.cu -o inspect_sm80.cubin
// The figures that ptxas printed are the expectations of cubin_test.cc.
struct Params {
  const float* x;
  float* y;
  int n;
};
__constant__ float table[4] = {1.f, 2.f, 3.f, 4.f};

extern "C" __global__ void Shared(const __grid_constant__ Params p) {
  __shared__ float s[256];
  s[threadIdx.x] = p.x[threadIdx.x] * table[p.n & 3];
  __syncthreads();
  p.y[threadIdx.x] = s[255 - threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(1024, 2) Spills(const __grid_constant__ Params p) {
  float a[40];
#pragma unroll
  for (int i = 0; i < 40; ++i) a[i] = p.x[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 40; ++i) p.y[i * 1024 + threadIdx.x] = a[i] * a[(i * 7 + 3) % 40];
}
