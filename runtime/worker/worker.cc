#include "runtime/worker/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <utility>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int64_t kReserveBytes = int64_t{512} << 20;  // modules, the L2 flush, workspace

Reply Failure(const absl::Status& status, int id) {
  Reply reply;
  reply.id = id;
  reply.status = IsOfTheMachine(status) ? CandidateStatus::kPruned : CandidateStatus::kFailed;
  reply.error = std::string(status.message());
  reply.fatal = IsSticky(status);
  return reply;
}

}  // namespace

Worker::Worker(Driver& driver, Send send, TimerOptions timer_options)
    : driver_(driver), send_(std::move(send)), timer_options_(std::move(timer_options)) {}

Worker::~Worker() { Close(); }

void Worker::Close() {
  candidates_.clear();
  timer_.reset();
  buffers_.reset();
  support_.reset();
  workspace_ = DeviceMemory();
  judged_ = false;
  if (stream_ != nullptr) driver_.DestroyStream(stream_).IgnoreError();
  stream_ = nullptr;
  if (context_ != nullptr) {
    driver_.PopContext().IgnoreError();
    driver_.ReleasePrimaryContext(device_).IgnoreError();
    context_ = nullptr;
  }
}

void Worker::Handle(std::string_view line) {
  const auto request = ParseRequest(line);
  send_(ToLine(request.ok() ? Answer(*request) : Failure(request.status(), -1)));
}

Reply Worker::Answer(const Request& request) {
  try {
    return Dispatch(request);
  } catch (const std::exception& error) {  // no memory
    const bool is_admit = request.kind == Request::Kind::kAdmit;
    return Failure(ResourceExhausted(error.what()), is_admit ? request.admit.id : running_);
  }
}

Reply Worker::Dispatch(const Request& request) {
  switch (request.kind) {
    case Request::Kind::kOpen: {
      Close();
      const absl::Status status = Open(request.open);
      Reply reply = Failure(status, -1);
      // Whatever else keeps it from working keeps it from every problem.
      if (!absl::IsResourceExhausted(status)) reply.status = CandidateStatus::kFailed;
      if (!status.ok()) return reply;
      reply = Reply();
      reply.method = TimingMethodName(timer_->method());
      reply.note = timer_->fallback_reason();
      return reply;
    }
    case Request::Kind::kAdmit:
      return Admit(request.admit);
    case Request::Kind::kMeasure:
      break;
  }
  return Measure(request.measure);
}

absl::Status Worker::Open(const OpenRequest& request) {
  device_ = request.device;
  operand_count_ = static_cast<int>(request.operands.size());
  TimerOptions timer_options = timer_options_;
  timer_options.cupti_dirs = request.cupti_dirs;
  TW_RETURN_IF_ERROR(driver_.Init());
  TW_ASSIGN_OR_RETURN(context_, driver_.RetainPrimaryContext(device_));
  if (absl::Status status = driver_.PushContext(context_); !status.ok()) {
    driver_.ReleasePrimaryContext(device_).IgnoreError();
    context_ = nullptr;
    return status;
  }
  TW_ASSIGN_OR_RETURN(stream_, driver_.CreateStream());
  TW_ASSIGN_OR_RETURN(timer_, KernelTimer::Create(driver_, device_, stream_, timer_options));
  TW_ASSIGN_OR_RETURN(support_,
                      SupportLauncher::Create(driver_, device_, stream_, request.support));
  TW_ASSIGN_OR_RETURN(
      buffers_, OperandBuffers::Create(driver_, stream_, *support_, request.operands, request.seed,
                                       kReserveBytes));
  return absl::OkStatus();
}

absl::Status Worker::ReserveWorkspace(int64_t bytes) {
  if (bytes <= workspace_.bytes()) return absl::OkStatus();
  workspace_ = DeviceMemory();
  absl::StatusOr<DeviceMemory> memory = DeviceMemory::Allocate(driver_, bytes);
  if (!memory.ok()) {
    const absl::StatusOr<MemoryInfo> device = driver_.Memory();
    const bool fits = !device.ok() || static_cast<uint64_t>(bytes) <= device->total_bytes;
    if (fits) return memory.status();
    return Internal("a workspace of ", bytes, " bytes on a device of ", device->total_bytes);
  }
  workspace_ = *std::move(memory);
  return absl::OkStatus();
}

void Worker::Announce(int id) {
  running_ = id;
  Reply event;
  event.started = true;
  event.id = id;
  send_(ToLine(event));
}

Reply Worker::Admit(const AdmitRequest& request) {
  if (buffers_ == nullptr) return Failure(FailedPrecondition("admit before open"), request.id);
  if (request.check && !request.judge && !judged_) {
    return Failure(FailedPrecondition("admit before the judge"), request.id);
  }
  Announce(request.id);
  auto candidate = LoadedCandidate::Load(driver_, device_, request.plan, operand_count_);
  if (!candidate.ok()) return Failure(candidate.status(), request.id);
  if (absl::Status status = ReserveWorkspace((*candidate)->workspace_bytes()); !status.ok()) {
    return Failure(status, request.id);
  }
  Reply reply;
  reply.id = request.id;
  if (request.check || request.judge) {
    const auto fault = Check(**candidate, request.judge);
    if (!fault.ok()) return Failure(fault.status(), request.id);
    if (!fault->empty()) {
      reply.status = CandidateStatus::kWrong;
      reply.error = *fault;
      return reply;
    }
  }
  judged_ = judged_ || request.judge;
  if (!request.judge) candidates_[request.id] = *std::move(candidate);
  return reply;
}

absl::Status Worker::RunOnce(const LoadedCandidate& candidate, int set) {
  TW_RETURN_IF_ERROR(buffers_->Poison(set));
  if (workspace_.data() != nullptr) {
    TW_RETURN_IF_ERROR(
        driver_.Fill8(workspace_.data(), 0xff, static_cast<size_t>(workspace_.bytes()), stream_));
  }
  TW_RETURN_IF_ERROR(candidate.Run(buffers_->Pointers(set), workspace_.data(), stream_));
  return driver_.SynchronizeStream(stream_);
}

absl::StatusOr<std::string> Worker::Check(const LoadedCandidate& candidate, bool judge) {
  for (int set = 0; set < buffers_->sets(); ++set) {
    TW_RETURN_IF_ERROR(RunOnce(candidate, set));
    if (judge) {
      TW_RETURN_IF_ERROR(buffers_->KeepExpected(set));
    }
    TW_ASSIGN_OR_RETURN(const std::string fault, buffers_->FindFault(set));
    if (!fault.empty()) return fault;
  }
  return std::string();
}

Reply Worker::Measure(const MeasureRequest& request) {
  running_ = -1;
  if (buffers_ == nullptr) return Failure(FailedPrecondition("measure before open"), -1);
  if (request.repeats < 1 || request.ids.empty()) {
    return Failure(InvalidArgument("measure of nothing"), -1);
  }
  std::vector<TimedWork> works;
  for (int id : request.ids) {
    const auto it = candidates_.find(id);
    if (it == candidates_.end()) {
      return Failure(FailedPrecondition("candidate ", id, " was not admitted"), id);
    }
    TimedWork work;
    if (buffers_->mutates()) {
      work.prepare = [this](int sample) { return buffers_->Restore(sample % buffers_->sets()); };
    }
    work.launch = [this, candidate = it->second.get()](int sample) {
      return candidate->Run(buffers_->Pointers(sample % buffers_->sets()), workspace_.data(),
                            stream_);
    };
    works.push_back(std::move(work));
  }
  const auto starting = [&](size_t i) { Announce(request.ids[i]); };
  auto samples = timer_->Time(works, request.repeats, starting);
  if (!samples.ok()) return Failure(samples.status(), running_);
  Reply reply;
  reply.samples_us = *std::move(samples);
  reply.method = TimingMethodName(timer_->method());
  reply.note = timer_->fallback_reason();
  return reply;
}

int ServeWorker(Driver& driver, const TimerOptions& timer_options) {
  // A candidate may never end, and the tuner, which would end it, may be killed.
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Answers go to the standard output that the tuner reads; what kernels and libraries print to
  // theirs goes to standard error.
  const int answers = dup(STDOUT_FILENO);
  if (answers < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  const auto send = [answers](const std::string& line) {
    const std::string text = line + "\n";
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t n = write(answers, text.data() + sent, text.size() - sent);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) std::_Exit(1);  // the tuner is gone
      sent += static_cast<size_t>(n);
    }
  };
  Worker worker(driver, send, timer_options);
  std::string line;
  while (std::getline(std::cin, line)) worker.Handle(line);
  return 0;
}

int WorkerMain() {
  const std::shared_ptr<Driver> driver = SystemDriver();
  return ServeWorker(*driver);
}

}  // namespace tilewright
