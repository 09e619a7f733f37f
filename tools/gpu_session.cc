#include "tools/gpu_session.h"

#include <algorithm>

#include "manifest/status.h"
#include "runtime/inputs.h"
#include "runtime/kernel_store.h"

namespace tilewright {

TimeSummary Summarize(std::vector<double> samples_us) {
  std::sort(samples_us.begin(), samples_us.end());
  const auto at = [&](double fraction) {
    const auto index = static_cast<size_t>(fraction * static_cast<double>(samples_us.size()));
    return samples_us[std::min(index, samples_us.size() - 1)];
  };
  return {at(0.5), at(0.1), at(0.9)};
}

absl::StatusOr<std::unique_ptr<GpuSession>> GpuSession::Open(const RuntimeOptions& options,
                                                             int device, bool clean_l2) {
  std::unique_ptr<GpuSession> session(new GpuSession(device));
  TW_RETURN_IF_ERROR(session->Init(options, clean_l2));
  return session;
}

absl::Status GpuSession::Init(const RuntimeOptions& options, bool clean_l2) {
  RuntimeOptions opened = options;
  driver_ = opened.driver != nullptr ? opened.driver : SystemDriver();
  opened.driver = driver_;
  TW_RETURN_IF_ERROR(driver_->Init());
  TW_ASSIGN_OR_RETURN(runtime_, Runtime::Open(opened));
  TW_ASSIGN_OR_RETURN(profile_, runtime_->Device(device_));
  TW_ASSIGN_OR_RETURN(const CudaContext context, driver_->RetainPrimaryContext(device_));
  has_context_ = true;
  current_.emplace(*driver_, context);
  TW_RETURN_IF_ERROR(current_->status());
  TW_ASSIGN_OR_RETURN(stream_, driver_->CreateStream());
  TimerOptions timing;
  timing.clean_l2 = clean_l2;
  TW_ASSIGN_OR_RETURN(timer_, KernelTimer::Create(*driver_, device_, stream_, timing));
  return absl::OkStatus();
}

GpuSession::~GpuSession() {
  timer_.reset();
  if (has_context_) {
    driver_->SynchronizeContext().IgnoreError();
    FreeAll();
    for (const Loaded& loaded : loaded_) driver_->UnloadLibrary(loaded.library).IgnoreError();
    if (stream_ != nullptr) driver_->DestroyStream(stream_).IgnoreError();
  }
  runtime_.reset();
  current_.reset();
  if (has_context_) driver_->ReleasePrimaryContext(device_).IgnoreError();
}

absl::StatusOr<void*> GpuSession::Alloc(int64_t bytes) {
  TW_ASSIGN_OR_RETURN(void* const memory,
                      driver_->Alloc(static_cast<size_t>(std::max<int64_t>(bytes, 256))));
  memory_.push_back(memory);
  return memory;
}

absl::StatusOr<void*> GpuSession::AllocCopy(std::span<const std::byte> bytes) {
  TW_ASSIGN_OR_RETURN(void* const memory, Alloc(static_cast<int64_t>(bytes.size())));
  TW_RETURN_IF_ERROR(driver_->CopyToDevice(memory, bytes.data(), bytes.size(), stream_));
  TW_RETURN_IF_ERROR(driver_->SynchronizeStream(stream_));
  return memory;
}

absl::StatusOr<void*> GpuSession::AllocRandom(DType dtype, int64_t bytes) {
  std::vector<std::byte> host(static_cast<size_t>(bytes));
  FillHost(dtype, host, {.mode = InputMode::kNormal, .seed = FreshSeed()});
  return AllocCopy(host);
}

void GpuSession::FreeAll() {
  for (void* memory : memory_) driver_->Free(memory).IgnoreError();
  memory_.clear();
}

absl::StatusOr<CudaKernel> GpuSession::Load(const KernelSpec& spec) {
  const std::string instantiation = spec.Instantiation();
  for (const Loaded& loaded : loaded_) {
    if (loaded.instantiation == instantiation) return loaded.kernel;
  }
  TW_ASSIGN_OR_RETURN(const KernelStore::Result built,
                      runtime_->kernels().GetOrBuild(spec, "support", profile_.arch));
  Loaded loaded{instantiation, nullptr, nullptr};
  TW_ASSIGN_OR_RETURN(loaded.library, driver_->LoadLibrary(built.row.cubin));
  loaded_.push_back(loaded);
  TW_ASSIGN_OR_RETURN(loaded_.back().kernel,
                      driver_->LibraryKernel(loaded.library, built.row.lowered_name.c_str()));
  return loaded_.back().kernel;
}

absl::Status GpuSession::Launch(const KernelSpec& spec, uint32_t grid, uint32_t block,
                                const void* params) {
  TW_ASSIGN_OR_RETURN(const CudaKernel kernel, Load(spec));
  LaunchShape shape;
  shape.grid[0] = grid;
  shape.block[0] = block;
  void* parameters[] = {const_cast<void*>(params)};
  return driver_->Launch(shape, kernel, stream_, parameters);
}

}  // namespace tilewright
