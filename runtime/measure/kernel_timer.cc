#include "runtime/measure/kernel_timer.h"

#include <algorithm>
#include <utility>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int kGraphCopies = 8;

// Destroys a graph and its executable at the end of the scope.
struct ScopedExec {
  Driver& driver;
  CudaGraphExec exec;
  ~ScopedExec() { driver.DestroyGraphExec(exec).IgnoreError(); }
};

}  // namespace

std::string_view TimingMethodName(TimingMethod method) {
  switch (method) {
    case TimingMethod::kCupti:
      return "cupti";
    case TimingMethod::kGraph:
      return "graph";
    case TimingMethod::kEvents:
      return "events";
  }
  return "unknown";
}

absl::StatusOr<std::unique_ptr<KernelTimer>> KernelTimer::Create(Driver& driver, int device,
                                                                 CudaStream stream,
                                                                 TimerOptions options) {
  std::unique_ptr<KernelTimer> timer(new KernelTimer(driver, stream, std::move(options)));
  if (timer->options_.flush_l2) {
    int64_t l2 = timer->options_.l2_bytes;
    if (l2 == 0) {
      TW_ASSIGN_OR_RETURN(l2, driver.Attribute(device, DeviceAttribute::kL2CacheBytes));
    }
    TW_ASSIGN_OR_RETURN(timer->flush_,
                        L2Flush::Create(driver, device, stream, l2, timer->options_.clean_l2));
  }
  TW_ASSIGN_OR_RETURN(timer->start_, driver.CreateEvent());
  TW_ASSIGN_OR_RETURN(timer->end_, driver.CreateEvent());
  auto recorder = timer->options_.recorder ? timer->options_.recorder()
                                           : CuptiRecorder(timer->options_.cupti_dirs);
  if (recorder.ok()) {
    timer->recorder_ = *std::move(recorder);
  } else {
    timer->FallBack(std::string(recorder.status().message()));
  }
  return timer;
}

KernelTimer::~KernelTimer() {
  recorder_.reset();
  if (start_ != nullptr) driver_.DestroyEvent(start_).IgnoreError();
  if (end_ != nullptr) driver_.DestroyEvent(end_).IgnoreError();
}

void KernelTimer::FallBack(std::string reason) {
  fallback_reason_ += Cat(fallback_reason_.empty() ? "" : "; ", reason);
  recorder_.reset();
  method_ = method_ == TimingMethod::kCupti ? TimingMethod::kGraph : TimingMethod::kEvents;
}

absl::Status KernelTimer::Prepare(const TimedWork& work, int sample) {
  return work.prepare ? work.prepare(sample) : absl::OkStatus();
}

absl::Status KernelTimer::Flush() {
  return flush_ == nullptr ? absl::OkStatus() : flush_->Enqueue(stream_);
}

absl::StatusOr<std::vector<std::vector<double>>> KernelTimer::Time(
    std::span<const TimedWork> works, int repeats, const std::function<void(size_t)>& starting) {
  for (size_t i = 0; i < works.size(); ++i) {
    if (starting) starting(i);
    for (int w = 0; w < options_.warmup; ++w) {
      TW_RETURN_IF_ERROR(Prepare(works[i], w));
      TW_RETURN_IF_ERROR(works[i].launch(w));
    }
    TW_RETURN_IF_ERROR(driver_.SynchronizeStream(stream_));
  }
  if (recorder_ != nullptr) {
    auto before = recorder_->Collect();
    if (!before.ok()) FallBack(std::string(before.status().message()));
  }
  std::vector<std::vector<double>> samples(works.size());
  for (int r = 0; r < repeats; ++r) {
    for (size_t i = 0; i < works.size(); ++i) {
      if (starting) starting(i);
      TW_ASSIGN_OR_RETURN(const double sample, Sample(works[i], r));
      samples[i].push_back(sample);
    }
  }
  return samples;
}

// A method that does not work on this machine gives way to the next one; samples of several
// methods are then mixed only within the call in which that happened.
absl::StatusOr<double> KernelTimer::Sample(const TimedWork& work, int sample) {
  if (method_ == TimingMethod::kCupti) {
    auto result = SampleCupti(work, sample);
    if (result.ok() || result.status().code() != absl::StatusCode::kUnavailable) return result;
    FallBack(std::string(result.status().message()));
  }
  if (method_ == TimingMethod::kGraph) {
    auto result = SampleGraph(work, sample);
    if (result.ok() || IsSticky(result.status())) return result;
    FallBack(Cat("graph replay: ", result.status().message()));
  }
  return SampleEvents(work, sample);
}

absl::StatusOr<double> KernelTimer::SampleCupti(const TimedWork& work, int sample) {
  TW_RETURN_IF_ERROR(Prepare(work, sample));
  // What prepare() launched is not the work's.
  if (work.prepare) {
    TW_RETURN_IF_ERROR(driver_.SynchronizeStream(stream_));
    TW_RETURN_IF_ERROR(recorder_->Collect().status());
  }
  // The launches queue up behind the flush, so that none of several waits for the host.
  TW_RETURN_IF_ERROR(Flush());
  TW_RETURN_IF_ERROR(work.launch(sample));
  TW_RETURN_IF_ERROR(driver_.SynchronizeStream(stream_));
  auto kernels = recorder_->Collect();
  if (!kernels.ok()) return absl::UnavailableError(kernels.status().message());
  const size_t flushes = flush_ == nullptr ? 0 : flush_->kernels();  // they ran first
  if (kernels->size() <= flushes) {
    return absl::UnavailableError("CUPTI delivered no kernel record");
  }
  uint64_t end_ns = 0;
  for (const KernelInterval& kernel : *kernels) end_ns = std::max(end_ns, kernel.end_ns);
  return static_cast<double>(end_ns - (*kernels)[flushes].start_ns) * 1e-3;
}

// A graph of kGraphCopies flushes, each followed by `work` unless that is null.
absl::StatusOr<CudaGraphExec> KernelTimer::Record(const TimedWork* work, int sample) {
  TW_RETURN_IF_ERROR(driver_.BeginCapture(stream_, CaptureMode::kThreadLocal));
  absl::Status status;
  for (int i = 0; i < kGraphCopies && status.ok(); ++i) {
    if (work != nullptr) status = Prepare(*work, sample + i);
    if (status.ok()) status = Flush();
    if (status.ok() && work != nullptr) status = work->launch(sample + i);
  }
  auto graph = driver_.EndCapture(stream_);
  TW_RETURN_IF_ERROR(status);
  TW_RETURN_IF_ERROR(graph.status());
  auto exec = driver_.Instantiate(*graph);
  driver_.DestroyGraph(*graph).IgnoreError();
  return exec;
}

absl::StatusOr<double> KernelTimer::ReplayUs(CudaGraphExec exec) {
  TW_RETURN_IF_ERROR(driver_.LaunchGraph(exec, stream_));  // warm-up
  TW_RETURN_IF_ERROR(driver_.RecordEvent(start_, stream_));
  TW_RETURN_IF_ERROR(driver_.LaunchGraph(exec, stream_));
  TW_RETURN_IF_ERROR(driver_.RecordEvent(end_, stream_));
  TW_RETURN_IF_ERROR(driver_.SynchronizeEvent(end_));
  TW_ASSIGN_OR_RETURN(const float ms, driver_.ElapsedMs(start_, end_));
  return static_cast<double>(ms) * 1e3;
}

absl::StatusOr<double> KernelTimer::SampleGraph(const TimedWork& work, int sample) {
  TW_ASSIGN_OR_RETURN(const CudaGraphExec with, Record(&work, sample));
  const ScopedExec with_guard{driver_, with};
  const TimedWork only_prepare{work.prepare, [](int) { return absl::OkStatus(); }};
  TW_ASSIGN_OR_RETURN(const CudaGraphExec without, Record(&only_prepare, sample));
  const ScopedExec without_guard{driver_, without};
  TW_ASSIGN_OR_RETURN(const double long_us, ReplayUs(with));
  TW_ASSIGN_OR_RETURN(const double short_us, ReplayUs(without));
  if (!(long_us > short_us)) return absl::InternalError("no difference with and without the work");
  return (long_us - short_us) / kGraphCopies;
}

absl::StatusOr<double> KernelTimer::SampleEvents(const TimedWork& work, int sample) {
  TW_RETURN_IF_ERROR(Prepare(work, sample));
  TW_RETURN_IF_ERROR(Flush());
  TW_RETURN_IF_ERROR(driver_.RecordEvent(start_, stream_));
  TW_RETURN_IF_ERROR(work.launch(sample));
  TW_RETURN_IF_ERROR(driver_.RecordEvent(end_, stream_));
  TW_RETURN_IF_ERROR(driver_.SynchronizeEvent(end_));
  TW_ASSIGN_OR_RETURN(const float ms, driver_.ElapsedMs(start_, end_));
  return static_cast<double>(ms) * 1e3;
}

}  // namespace tilewright
