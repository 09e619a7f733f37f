#include "runtime/worker/worker_client.h"

#include <algorithm>
#include <set>
#include <utility>

#include "manifest/status.h"
#include "manifest/text.h"

namespace tilewright {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kJudgeId = -2;
constexpr int kMostTimeouts = 64;      // that one request may take, whatever its signs
constexpr double kMostUs = 1e10;       // nothing that is timed takes hours
constexpr int kLossesForAVerdict = 2;  // in a row, over one candidate

// From a process that may not be ours: as it can be shown and kept.
std::string Shown(std::string_view text) { return Escaped(Brief(text)); }

Measurement FromReply(const Reply& reply) {
  Measurement result;
  result.status = reply.status;
  result.error = reply.error;
  return result;
}

Measurement NotLookedAt(std::string why = "") {
  Measurement result;
  result.status = CandidateStatus::kPruned;
  result.error = std::move(why);
  return result;
}

// How often each candidate of a request gives a sign: as it warms up, and ahead of each sample.
std::map<int, int> SignsOf(const Request& request) {
  std::map<int, int> signs;
  if (request.kind == Request::Kind::kAdmit) signs[request.admit.id] = 1;
  if (request.kind == Request::Kind::kMeasure) {
    for (int id : request.measure.ids) signs[id] = request.measure.repeats + 1;
  }
  return signs;
}

// Why `samples_us` cannot be those of the request; empty where they can.
std::string FlawOfSamples(const MeasureRequest& request,
                          const std::vector<std::vector<double>>& samples_us) {
  if (samples_us.size() != request.ids.size()) {
    return Cat("times of ", samples_us.size(), " candidates, asked of ", request.ids.size());
  }
  for (const std::vector<double>& samples : samples_us) {
    if (samples.size() != static_cast<size_t>(request.repeats)) {
      return Cat(samples.size(), " times, asked for ", request.repeats);
    }
    for (const double us : samples) {
      if (!(us > 0 && us < kMostUs)) return Cat("a time of ", us, " us");
    }
  }
  return "";
}

// Why `reply` is no answer to `request`; empty where it is one.
std::string FlawOf(const Request& request, const Reply& reply) {
  const bool is_ok = reply.status == CandidateStatus::kOk;
  if (is_ok && reply.fatal) return "an answer that is ok and fatal";
  if (reply.status == CandidateStatus::kPruned && reply.error.empty()) {
    return "no verdict, and no reason";
  }
  if (request.kind == Request::Kind::kAdmit && reply.id != request.admit.id) {
    return Cat("an answer about candidate ", reply.id, ", asked about ", request.admit.id,
               reply.error.empty() ? "" : ": ", Shown(reply.error));
  }
  if (request.kind != Request::Kind::kMeasure || !is_ok) return "";
  return FlawOfSamples(request.measure, reply.samples_us);
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
  if (Cancelled()) return absl::CancelledError("tuning: cancelled while its worker started");
  if (opened.status != CandidateStatus::kOk) {
    child_.reset();
    const std::string why = Cat("the tuning worker cannot work: ", opened.error);
    // For want of memory or the like another problem, or a later attempt, may do.
    return opened.status == CandidateStatus::kPruned ? ResourceExhausted(why)
                                                     : FailedPrecondition(why);
  }
  method_ = opened.method;
  note_ = opened.note;
  Request judge;
  judge.kind = Request::Kind::kAdmit;
  judge.admit = {kJudgeId, /*judge=*/true, /*check=*/true, judge_};
  const Reply judged = Ask(judge, options_.open_timeout);
  if (Cancelled()) return absl::CancelledError("tuning: cancelled while its worker started");
  if (judged.status == CandidateStatus::kPruned) {
    child_.reset();
    return ResourceExhausted("the tuning worker cannot work: ", judged.error);
  }
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
  std::map<int, int> signs = SignsOf(request);
  int running = -1;
  const Clock::time_point last = Clock::now() + kMostTimeouts * timeout;
  Patience patience{Clock::now() + timeout, options_.cancelled};
  const auto lost_by = [&](const absl::Status& why) {
    if (absl::IsCancelled(why)) return Lost(CandidateStatus::kPruned, running, "");
    if (absl::IsResourceExhausted(why)) {
      return Lost(CandidateStatus::kPruned, running, Cat("the tuning worker gave ", why.message()));
    }
    if (!absl::IsDeadlineExceeded(why)) {
      return Lost(CandidateStatus::kFailed, running, Cat("worker: ", why.message()));
    }
    const auto waited = patience.deadline == last ? kMostTimeouts * timeout : timeout;
    return Lost(CandidateStatus::kTimeout, running, Cat("no answer in ", waited.count(), " ms"));
  };
  const absl::Status sent = child_->WriteLine(ToLine(request), patience);
  if (!sent.ok()) return lost_by(sent);
  for (;;) {
    const absl::StatusOr<std::string> line = child_->ReadLine(patience);
    if (!line.ok()) return lost_by(line.status());
    absl::StatusOr<Reply> reply = ParseReply(*line);
    if (!reply.ok()) {
      return Lost(CandidateStatus::kPruned, running, Shown(std::string(reply.status().message())));
    }
    if (!reply->started) {
      if (const std::string flaw = FlawOf(request, *reply); !flaw.empty()) {
        return Lost(CandidateStatus::kPruned, running, Cat("the tuning worker gave ", flaw));
      }
      reply->error = Shown(reply->error);
      reply->method = Shown(reply->method);
      reply->note = Shown(reply->note);
      if (reply->fatal) return Lost(reply->status, reply->id, reply->error);
      return *std::move(reply);
    }
    if (const auto sign = signs.find(reply->id); sign != signs.end() && sign->second-- > 0) {
      running = reply->id;
      patience.deadline = std::min(Clock::now() + timeout, last);
    } else if (Clock::now() >= patience.deadline) {
      return lost_by(absl::DeadlineExceededError(""));
    }
  }
}

std::optional<Measurement> WorkerClient::VerdictOn(int id, const Reply& reply) {
  const bool is_cancelled = reply.status == CandidateStatus::kPruned && reply.error.empty();
  const bool is_lost = child_ == nullptr && !is_cancelled;
  if (is_lost && ++losses_[id] < kLossesForAVerdict) return std::nullopt;
  if (is_lost) losses_.erase(id);
  return FromReply(reply);
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
    std::optional<Measurement> verdict;
    while (!verdict.has_value() && !Cancelled() && EnsureWorker()) {
      verdict = VerdictOn(id, AdmitOne(id, plan, /*check=*/true));
    }
    results.push_back(std::move(verdict).value_or(NotLookedAt()));
    if (results.back().status != CandidateStatus::kOk) continue;
    admitted_[id] = plan;
    losses_.erase(id);
  }
  return results;
}

// Loads into a new worker what an earlier one admitted. False where one of them took the worker
// down; it is among the rejected where that was not the first time.
bool WorkerClient::Readmit(std::span<const int> ids, std::map<int, Measurement>& rejected) {
  for (int id : ids) {
    if (loaded_.contains(id) || rejected.contains(id)) continue;
    const auto it = admitted_.find(id);
    if (it == admitted_.end()) {
      rejected[id] = {CandidateStatus::kFailed, "it was never admitted"};
      continue;
    }
    const Reply reply = AdmitOne(id, it->second, /*check=*/false);
    const std::optional<Measurement> verdict = VerdictOn(id, reply);
    if (verdict.has_value() && verdict->status != CandidateStatus::kOk) rejected[id] = *verdict;
    if (child_ == nullptr) return false;
  }
  return true;
}

std::vector<Measurement> WorkerClient::Measure(std::span<const int> ids, int repeats) {
  std::map<int, Measurement> results;
  Measurement rest = NotLookedAt();
  while (results.size() < std::set<int>(ids.begin(), ids.end()).size()) {
    if (Cancelled() || !EnsureWorker()) break;
    if (!Readmit(ids, results)) continue;
    Request request;
    request.kind = Request::Kind::kMeasure;
    request.measure.repeats = repeats;
    for (int id : ids) {
      if (!results.contains(id)) request.measure.ids.push_back(id);
    }
    const std::vector<int>& asked = request.measure.ids;
    if (asked.empty()) break;
    Reply reply = Ask(request, options_.run_timeout);
    if (reply.status == CandidateStatus::kOk) {
      for (size_t i = 0; i < asked.size(); ++i) {
        results[asked[i]].samples_us = std::move(reply.samples_us[i]);
      }
      for (int id : asked) losses_.erase(id);
      losses_.erase(-1);
      method_ = reply.method;
      note_ = reply.note;
      break;
    }
    // The culprit leaves the race, the others are measured again. What befell the worker while
    // nothing ran is no candidate's fault.
    const bool named = std::find(asked.begin(), asked.end(), reply.id) != asked.end();
    const std::optional<Measurement> verdict = VerdictOn(named ? reply.id : -1, reply);
    if (!verdict.has_value()) continue;
    if (!named || verdict->status == CandidateStatus::kPruned) {
      rest = NotLookedAt(verdict->error);
      break;
    }
    results[reply.id] = *verdict;
  }
  std::vector<Measurement> ordered;
  for (int id : ids) {
    const auto it = results.find(id);
    ordered.push_back(it == results.end() ? rest : it->second);
  }
  return ordered;
}

}  // namespace tilewright
