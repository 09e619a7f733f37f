#include "runtime/worker/wire.h"

#include <nlohmann/json.hpp>

#include "manifest/status.h"

namespace tilewright {
namespace {

using Json = nlohmann::ordered_json;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Thrown inside this file only, caught where a line is parsed.
[[noreturn]] void Refuse(const std::string& what) { throw std::invalid_argument(what); }

std::string ToHex(std::span<const std::byte> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::byte byte : bytes) {
    text += kDigits[std::to_integer<int>(byte) >> 4];
    text += kDigits[std::to_integer<int>(byte) & 15];
  }
  return text;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  Refuse("a bad hex digit");
}

Dims ToDims(const Json& json) {
  if (json.size() > kMaxRank) Refuse("more than 8 dims");
  Dims dims;
  for (const Json& value : json) dims.push_back(value.get<int64_t>());
  return dims;
}

DType ToDType(const Json& json) {
  const auto dtype = ParseDType(json.get<std::string>());
  if (!dtype.has_value()) Refuse("unknown dtype " + json.get<std::string>());
  return *dtype;
}

template <class Array>
void ToArray(const Json& json, Array& array) {
  if (json.size() != array.size()) Refuse("an array of the wrong length");
  for (size_t i = 0; i < array.size(); ++i) array[i] = json[i];
}

Json FromOperand(const WireOperand& operand) {
  return {{"dtype", DTypeName(operand.desc.dtype)},
          {"shape", operand.desc.shape.span()},
          {"strides", operand.desc.strides.span()},
          {"alignment", operand.alignment},
          {"present", operand.present},
          {"output", operand.output},
          {"mutated", operand.mutated},
          {"absolute", operand.absolute},
          {"relative", operand.relative},
          {"data_file", operand.data_file}};
}

WireOperand ToOperand(const Json& json) {
  WireOperand operand;
  operand.desc.dtype = ToDType(json.at("dtype"));
  operand.desc.shape = ToDims(json.at("shape"));
  operand.desc.strides = ToDims(json.at("strides"));
  operand.alignment = json.at("alignment");
  operand.present = json.at("present");
  operand.output = json.at("output");
  operand.mutated = json.at("mutated");
  operand.absolute = json.at("absolute");
  operand.relative = json.at("relative");
  operand.data_file = json.at("data_file");
  if (operand.desc.shape.rank() != operand.desc.strides.rank()) Refuse("strides of another rank");
  return operand;
}

Json FromKernels(const std::vector<WireKernel>& kernels) {
  Json list = Json::array();
  for (const WireKernel& kernel : kernels) {
    list.push_back({{"name", kernel.name},
                    {"file", kernel.file},
                    {"symbol", kernel.symbol},
                    {"static_smem_bytes", kernel.static_smem_bytes}});
  }
  return list;
}

std::vector<WireKernel> ToKernels(const Json& list) {
  std::vector<WireKernel> kernels;
  for (const Json& json : list) {
    kernels.push_back(
        {json.at("name"), json.at("file"), json.at("symbol"), json.at("static_smem_bytes")});
  }
  return kernels;
}

Json FromMap(const TensorMapSlot& slot) {
  return {{"offset", slot.offset},
          {"operand", slot.operand},
          {"byte_offset", slot.byte_offset},
          {"dtype", DTypeName(slot.dtype)},
          {"rank", slot.rank},
          {"dims", slot.dims},
          {"strides_bytes", slot.strides_bytes},
          {"box", slot.box},
          {"swizzle", static_cast<int>(slot.swizzle)},
          {"l2_promotion", slot.l2_promotion_bytes_log2}};
}

TensorMapSlot ToMap(const Json& json) {
  TensorMapSlot slot;
  slot.offset = json.at("offset");
  slot.operand = json.at("operand");
  slot.byte_offset = json.at("byte_offset");
  slot.dtype = ToDType(json.at("dtype"));
  slot.rank = json.at("rank");
  ToArray(json.at("dims"), slot.dims);
  ToArray(json.at("strides_bytes"), slot.strides_bytes);
  ToArray(json.at("box"), slot.box);
  const int swizzle = json.at("swizzle");
  if (swizzle < 0 || swizzle > 3) Refuse("unknown swizzle");
  slot.swizzle = static_cast<TensorMapSlot::Swizzle>(swizzle);
  slot.l2_promotion_bytes_log2 = json.at("l2_promotion");
  return slot;
}

Json FromLaunch(const Launch& launch) {
  Json pointers = Json::array();
  for (const PointerSlot& slot : launch.pointers) {
    pointers.push_back({slot.offset, slot.operand, slot.byte_offset});
  }
  Json maps = Json::array();
  for (const TensorMapSlot& slot : launch.tensor_maps) maps.push_back(FromMap(slot));
  return {{"kernel", launch.kernel},
          {"grid", launch.grid},
          {"block", launch.block},
          {"cluster", launch.cluster},
          {"smem", launch.dynamic_smem_bytes},
          {"pdl", launch.programmatic_dependent_launch},
          {"params", ToHex({launch.params.data(), launch.params.size()})},
          {"pointers", pointers},
          {"tensor_maps", maps}};
}

Launch ToLaunch(const Json& json) {
  Launch launch;
  launch.kernel = json.at("kernel");
  ToArray(json.at("grid"), launch.grid);
  ToArray(json.at("block"), launch.block);
  ToArray(json.at("cluster"), launch.cluster);
  launch.dynamic_smem_bytes = json.at("smem");
  launch.programmatic_dependent_launch = json.at("pdl");
  const std::string hex = json.at("params");
  if (hex.size() % 2 != 0) Refuse("half a byte of parameters");
  for (size_t i = 0; i < hex.size(); i += 2) {
    launch.params.push_back(static_cast<std::byte>(HexDigit(hex[i]) << 4 | HexDigit(hex[i + 1])));
  }
  for (const Json& slot : json.at("pointers")) {
    launch.pointers.push_back({slot.at(0), slot.at(1), slot.at(2)});
  }
  for (const Json& slot : json.at("tensor_maps")) launch.tensor_maps.push_back(ToMap(slot));
  return launch;
}

Json FromOpen(const OpenRequest& request) {
  Json operands = Json::array();
  for (const WireOperand& operand : request.operands) operands.push_back(FromOperand(operand));
  return {{"cmd", "open"},
          {"device", request.device},
          {"seed", request.seed},
          {"operands", operands},
          {"support", FromKernels(request.support)},
          {"cupti_dirs", request.cupti_dirs}};
}

OpenRequest ToOpen(const Json& json) {
  OpenRequest request;
  request.device = json.at("device");
  request.seed = json.at("seed");
  for (const Json& operand : json.at("operands")) request.operands.push_back(ToOperand(operand));
  request.support = ToKernels(json.at("support"));
  request.cupti_dirs = json.at("cupti_dirs").get<std::vector<std::string>>();
  return request;
}

Json FromAdmit(const AdmitRequest& request) {
  Json launches = Json::array();
  for (const Launch& launch : request.plan.bound.launches) launches.push_back(FromLaunch(launch));
  return {{"cmd", "admit"},
          {"id", request.id},
          {"judge", request.judge},
          {"check", request.check},
          {"kernels", FromKernels(request.plan.kernels)},
          {"launches", launches},
          {"workspace_bytes", request.plan.bound.workspace_bytes}};
}

AdmitRequest ToAdmit(const Json& json) {
  AdmitRequest request;
  request.id = json.at("id");
  request.judge = json.at("judge");
  request.check = json.at("check");
  request.plan.kernels = ToKernels(json.at("kernels"));
  for (const Json& launch : json.at("launches")) {
    request.plan.bound.launches.push_back(ToLaunch(launch));
  }
  request.plan.bound.workspace_bytes = json.at("workspace_bytes");
  return request;
}

CandidateStatus ToStatus(const std::string& name) {
  for (const auto status : {CandidateStatus::kOk, CandidateStatus::kWrong, CandidateStatus::kFailed,
                            CandidateStatus::kPruned, CandidateStatus::kTimeout}) {
    if (CandidateStatusName(status) == name) return status;
  }
  Refuse("unknown status " + name);
}

template <class Parse>
auto Guarded(std::string_view line, const Parse& parse)
    -> absl::StatusOr<decltype(parse(std::declval<const Json&>()))> {
  try {
    return parse(Json::parse(line));
  } catch (const std::exception& error) {
    return InvalidArgument("worker protocol: ", error.what(), " in '", line.substr(0, 200), "'");
  }
}

}  // namespace

std::string ToLine(const Request& request) {
  switch (request.kind) {
    case Request::Kind::kOpen:
      return Dump(FromOpen(request.open));
    case Request::Kind::kAdmit:
      return Dump(FromAdmit(request.admit));
    case Request::Kind::kMeasure:
      break;
  }
  return Dump(
      {{"cmd", "measure"}, {"ids", request.measure.ids}, {"repeats", request.measure.repeats}});
}

absl::StatusOr<Request> ParseRequest(std::string_view line) {
  return Guarded(line, [](const Json& json) {
    Request request;
    const std::string command = json.at("cmd");
    if (command == "open") {
      request.open = ToOpen(json);
    } else if (command == "admit") {
      request.kind = Request::Kind::kAdmit;
      request.admit = ToAdmit(json);
    } else if (command == "measure") {
      request.kind = Request::Kind::kMeasure;
      request.measure.ids = json.at("ids").get<std::vector<int>>();
      request.measure.repeats = json.at("repeats");
    } else {
      Refuse("unknown command " + command);
    }
    return request;
  });
}

std::string ToLine(const Reply& reply) {
  if (reply.started) return Dump({{"event", "start"}, {"id", reply.id}});
  Json json = {{"reply", CandidateStatusName(reply.status)}, {"id", reply.id}};
  if (!reply.error.empty()) json["error"] = reply.error;
  if (reply.fatal) json["fatal"] = true;
  if (!reply.samples_us.empty()) json["samples_us"] = reply.samples_us;
  if (!reply.method.empty()) json["method"] = reply.method;
  if (!reply.note.empty()) json["note"] = reply.note;
  return Dump(json);
}

absl::StatusOr<Reply> ParseReply(std::string_view line) {
  return Guarded(line, [](const Json& json) {
    Reply reply;
    reply.id = json.at("id");
    reply.started = json.contains("event");
    if (reply.started) return reply;
    reply.status = ToStatus(json.at("reply"));
    reply.error = json.value("error", "");
    reply.fatal = json.value("fatal", false);
    if (json.contains("samples_us")) {
      reply.samples_us = json.at("samples_us").get<std::vector<std::vector<double>>>();
    }
    reply.method = json.value("method", "");
    reply.note = json.value("note", "");
    return reply;
  });
}

}  // namespace tilewright
