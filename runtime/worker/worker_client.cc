#include "runtime/worker/worker_client.h"

#include <algorithm>
#include <set>
#include <utility>

#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int kJudgeId = -2;
constexpr std::chrono::milliseconds kSlice{200};  // between two looks at `cancelled`

Measurement FromReply(const Reply& reply) {
  Measurement result;
  result.status = reply.status;
  result.error = reply.error;
  return result;
}

Measurement NotLookedAt() {
  Measurement result;
  result.status = CandidateStatus::kPruned;
  return result;
}

}  // namespace

bool WorkerClient::Cancelled() const {
  return options_.cancelled != nullptr && options_.cancelled->load();
}

absl::Status WorkerClient::Open(OpenRequest problem, WirePlan judge) {
  problem_ = std::move(problem);
  judge_ = std::move(judge);
  admitted_.clear();
  restarts_ = -1;
  status_ = StartWorker();
  return status_;
}

absl::Status WorkerClient::StartWorker() {
  child_.reset();
  loaded_.clear();
  ++restarts_;
  if (restarts_ > options_.max_restarts) {
    return Internal("the tuning worker was lost ", restarts_, " times");
  }
  TW_ASSIGN_OR_RETURN(child_, ChildProcess::Start(options_.program, options_.args));
  Request open;
  open.open = problem_;
  const Reply opened = Ask(open, options_.open_timeout);
  if (opened.status != CandidateStatus::kOk) {
    child_.reset();
    return FailedPrecondition("the tuning worker cannot work: ", opened.error);
  }
  method_ = opened.method;
  note_ = opened.note;
  Request judge;
  judge.kind = Request::Kind::kAdmit;
  judge.admit = {kJudgeId, /*judge=*/true, /*check=*/true, judge_};
  const Reply judged = Ask(judge, options_.open_timeout);
  if (judged.status != CandidateStatus::kOk) {
    child_.reset();
    return Internal("the portable template, which judges candidates, fails: ",
                    CandidateStatusName(judged.status), ": ", judged.error);
  }
  return absl::OkStatus();
}

bool WorkerClient::EnsureWorker() {
  if (child_ != nullptr) return true;
  if (!status_.ok() || Cancelled()) return false;
  status_ = StartWorker();
  return status_.ok();
}

Reply WorkerClient::Lost(CandidateStatus status, int id, std::string error) {
  child_.reset();
  loaded_.clear();
  Reply reply;
  reply.status = status;
  reply.id = id;
  reply.error = std::move(error);
  reply.fatal = true;
  return reply;
}

Reply WorkerClient::Ask(const Request& request, std::chrono::milliseconds timeout) {
  int running = -1;
  if (absl::Status sent = child_->WriteLine(ToLine(request), timeout); !sent.ok()) {
    return Lost(CandidateStatus::kFailed, running, std::string(sent.message()));
  }
  auto last_sign = std::chrono::steady_clock::now();
  for (;;) {
    const auto line = child_->ReadLine(std::min(timeout, kSlice));
    if (!line.ok()) {
      if (line.status().code() != absl::StatusCode::kDeadlineExceeded) {
        return Lost(CandidateStatus::kFailed, running, Cat("worker: ", line.status().message()));
      }
      if (Cancelled()) return Lost(CandidateStatus::kPruned, running, "cancelled");
      if (std::chrono::steady_clock::now() - last_sign < timeout) continue;
      return Lost(CandidateStatus::kTimeout, running, Cat("no answer in ", timeout.count(), " ms"));
    }
    last_sign = std::chrono::steady_clock::now();
    auto reply = ParseReply(*line);
    if (!reply.ok()) {
      return Lost(CandidateStatus::kFailed, running, std::string(reply.status().message()));
    }
    if (!reply->started) {
      if (reply->fatal) return Lost(reply->status, reply->id, reply->error);
      return *std::move(reply);
    }
    running = reply->id;
  }
}

Reply WorkerClient::AdmitOne(int id, const WirePlan& plan, bool check) {
  Request request;
  request.kind = Request::Kind::kAdmit;
  request.admit = {id, /*judge=*/false, check, plan};
  Reply reply = Ask(request, options_.run_timeout);
  if (reply.status == CandidateStatus::kOk) loaded_[id] = true;
  return reply;
}

std::vector<Measurement> WorkerClient::Admit(std::span<const std::pair<int, WirePlan>> plans) {
  std::vector<Measurement> results;
  for (const auto& [id, plan] : plans) {
    if (Cancelled() || !EnsureWorker()) {
      results.push_back(NotLookedAt());
      continue;
    }
    const Reply reply = AdmitOne(id, plan, /*check=*/true);
    if (reply.status == CandidateStatus::kOk) admitted_[id] = plan;
    results.push_back(FromReply(reply));
  }
  return results;
}

// Loads into a new worker what an earlier one admitted. False where one of them took the worker
// down, which is then among the rejected.
bool WorkerClient::Readmit(std::span<const int> ids, std::map<int, Measurement>& rejected) {
  for (int id : ids) {
    if (loaded_.contains(id) || rejected.contains(id)) continue;
    const auto it = admitted_.find(id);
    if (it == admitted_.end()) {
      rejected[id] = {CandidateStatus::kFailed, "it was never admitted"};
      continue;
    }
    const Reply reply = AdmitOne(id, it->second, /*check=*/false);
    if (reply.status != CandidateStatus::kOk) rejected[id] = FromReply(reply);
    if (child_ == nullptr) return false;
  }
  return true;
}

std::vector<Measurement> WorkerClient::Measure(std::span<const int> ids, int repeats) {
  std::map<int, Measurement> results;
  while (results.size() < std::set<int>(ids.begin(), ids.end()).size()) {
    if (Cancelled() || !EnsureWorker()) break;
    if (!Readmit(ids, results)) continue;
    Request request;
    request.kind = Request::Kind::kMeasure;
    request.measure.repeats = repeats;
    for (int id : ids) {
      if (!results.contains(id)) request.measure.ids.push_back(id);
    }
    if (request.measure.ids.empty()) break;
    const std::vector<int>& asked = request.measure.ids;
    Reply reply = Ask(request, options_.run_timeout);
    if (reply.status == CandidateStatus::kPruned) break;
    if (reply.status == CandidateStatus::kOk && reply.samples_us.size() == asked.size()) {
      for (size_t i = 0; i < asked.size(); ++i) {
        results[asked[i]].samples_us = std::move(reply.samples_us[i]);
      }
      method_ = reply.method;
      note_ = reply.note;
      break;
    }
    // The culprit leaves the race, the others are measured again.
    const bool named = std::find(asked.begin(), asked.end(), reply.id) != asked.end();
    const int culprit = named ? reply.id : asked.front();
    results[culprit] = FromReply(reply);
    if (reply.status == CandidateStatus::kOk) {
      results[culprit] = {CandidateStatus::kFailed, "the worker gave too few samples"};
    }
  }
  std::vector<Measurement> ordered;
  for (int id : ids) {
    const auto it = results.find(id);
    ordered.push_back(it == results.end() ? NotLookedAt() : it->second);
  }
  return ordered;
}

}  // namespace tilewright
