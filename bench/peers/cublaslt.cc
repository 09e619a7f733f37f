#include "bench/peers/cublaslt.h"

#include <cublasLt.h>
#include <dlfcn.h>

#include <vector>

#include "manifest/op_spec.h"
#include "manifest/status.h"

namespace tilewright {
namespace {

constexpr int kMaxAlgorithms = 64;

// The entry points, by name.
struct Library {
  decltype(&cublasLtCreate) create;
  decltype(&cublasLtDestroy) destroy;
  decltype(&cublasLtMatmulDescCreate) desc_create;
  decltype(&cublasLtMatmulDescDestroy) desc_destroy;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set;
  decltype(&cublasLtMatrixLayoutCreate) layout_create;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic;
  decltype(&cublasLtMatmul) matmul;

  absl::Status Load(const std::string& explicit_path);
};

template <class Function>
bool Resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

absl::Status Library::Load(const std::string& explicit_path) {
  std::vector<std::string> paths = {explicit_path};
  if (explicit_path.empty()) {
    paths = {"libcublasLt.so.13", "/usr/local/cuda/lib64/libcublasLt.so.13", "libcublasLt.so.12"};
  }
  std::string errors;
  void* handle = nullptr;
  for (const std::string& path : paths) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) break;
    errors += Cat("\n  ", dlerror());
  }
  if (handle == nullptr) return FailedPrecondition("no cuBLASLt; sought:", errors);
  const bool found = Resolve(handle, "cublasLtCreate", create) &&
                     Resolve(handle, "cublasLtDestroy", destroy) &&
                     Resolve(handle, "cublasLtMatmulDescCreate", desc_create) &&
                     Resolve(handle, "cublasLtMatmulDescDestroy", desc_destroy) &&
                     Resolve(handle, "cublasLtMatmulDescSetAttribute", desc_set) &&
                     Resolve(handle, "cublasLtMatrixLayoutCreate", layout_create) &&
                     Resolve(handle, "cublasLtMatrixLayoutDestroy", layout_destroy) &&
                     Resolve(handle, "cublasLtMatrixLayoutSetAttribute", layout_set) &&
                     Resolve(handle, "cublasLtMatmulPreferenceCreate", preference_create) &&
                     Resolve(handle, "cublasLtMatmulPreferenceDestroy", preference_destroy) &&
                     Resolve(handle, "cublasLtMatmulPreferenceSetAttribute", preference_set) &&
                     Resolve(handle, "cublasLtMatmulAlgoGetHeuristic", heuristic) &&
                     Resolve(handle, "cublasLtMatmul", matmul);
  return found ? absl::OkStatus() : FailedPrecondition("libcublasLt lacks an entry point");
}

absl::Status Check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return absl::OkStatus();
  return Internal(what, " failed with cublasStatus ", static_cast<int>(status));
}

// The product as cuBLASLt sees it. Row-major d = op(a) op(b) is column-major d^T = op(b)^T op(a)^T,
// so b is its first operand, and d^T has n rows and m columns. Batches follow one another.
struct Problem {
  uint64_t m = 0, n = 0, k = 0;
  int32_t batches = 1;
  bool trans_a = false, trans_b = false;
  cudaDataType_t type = CUDA_R_16BF;
};

bool IsDenseHalf(const CallDesc& call) {
  const DType dtype = call.input(0).desc.dtype;
  return (dtype == DType::kFloat16 || dtype == DType::kBFloat16) &&
         call.input(0).desc.IsContiguous() && call.input(1).desc.IsContiguous() &&
         call.output(0).desc.IsContiguous();
}

absl::StatusOr<Problem> ProblemOf(const CallDesc& call) {
  if (call.op == nullptr || !CublasLtGemm::Serves(call.op->name) || !IsDenseHalf(call)) {
    return InvalidArgument("the cuBLASLt peer: expected a dense GemmFwdOp or BmmFwdOp, got ",
                           call.ToString());
  }
  const TensorDesc& a = call.input(0).desc;
  const TensorDesc& d = call.output(0).desc;
  const int axis = a.rank() - 2;
  Problem problem;
  if (axis == 0) {
    problem.trans_a = call.params[static_cast<size_t>(*call.op->ParamIndex("trans_a"))].as_bool();
    problem.trans_b = call.params[static_cast<size_t>(*call.op->ParamIndex("trans_b"))].as_bool();
  } else {
    problem.batches = static_cast<int32_t>(a.shape[0]);
  }
  problem.m = static_cast<uint64_t>(d.shape[axis]);
  problem.n = static_cast<uint64_t>(d.shape[axis + 1]);
  problem.k = static_cast<uint64_t>(a.shape[problem.trans_a ? axis : axis + 1]);
  problem.type = a.dtype == DType::kFloat16 ? CUDA_R_16F : CUDA_R_16BF;
  return problem;
}

class CublasLtGemmImpl final : public CublasLtGemm {
 public:
  ~CublasLtGemmImpl() override {
    for (cublasLtMatrixLayout_t layout : {first_, second_, result_}) {
      if (layout != nullptr) library_.layout_destroy(layout);
    }
    if (desc_ != nullptr) library_.desc_destroy(desc_);
    if (handle_ != nullptr) library_.destroy(handle_);
  }

  absl::Status Init(const Problem& problem, const std::string& library) {
    TW_RETURN_IF_ERROR(library_.Load(library));
    TW_RETURN_IF_ERROR(Check(library_.create(&handle_), "cublasLtCreate"));
    TW_RETURN_IF_ERROR(Check(library_.desc_create(&desc_, CUBLAS_COMPUTE_32F, CUDA_R_32F),
                             "cublasLtMatmulDescCreate"));
    // Row-major [k, n] is column-major n x k: not transposed. [n, k] is k x n: transposed.
    TW_RETURN_IF_ERROR(SetTranspose(CUBLASLT_MATMUL_DESC_TRANSA, problem.trans_b));
    TW_RETURN_IF_ERROR(SetTranspose(CUBLASLT_MATMUL_DESC_TRANSB, problem.trans_a));
    const auto [m, n, k] = std::tuple(problem.m, problem.n, problem.k);
    TW_RETURN_IF_ERROR(
        MakeLayout(first_, problem, problem.trans_b ? k : n, problem.trans_b ? n : k));
    TW_RETURN_IF_ERROR(
        MakeLayout(second_, problem, problem.trans_a ? m : k, problem.trans_a ? k : m));
    TW_RETURN_IF_ERROR(MakeLayout(result_, problem, n, m));
    return FindAlgorithms();
  }

  int algorithms() const override { return static_cast<int>(found_.size()); }

  absl::Status Run(int algorithm, const GemmBuffers& buffers, void* stream) override {
    const float alpha = 1, beta = 0;
    const cublasLtMatmulHeuristicResult_t& chosen = found_.at(static_cast<size_t>(algorithm));
    return Check(
        library_.matmul(handle_, desc_, &alpha, buffers.b, first_, buffers.a, second_, &beta,
                        buffers.d, result_, buffers.d, result_, &chosen.algo, buffers.workspace,
                        buffers.workspace_bytes, static_cast<cudaStream_t>(stream)),
        "cublasLtMatmul");
  }

 private:
  absl::Status SetTranspose(cublasLtMatmulDescAttributes_t attribute, bool transpose) {
    const cublasOperation_t operation = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    return Check(library_.desc_set(desc_, attribute, &operation, sizeof(operation)),
                 "cublasLtMatmulDescSetAttribute");
  }

  absl::Status MakeLayout(cublasLtMatrixLayout_t& layout, const Problem& problem, uint64_t rows,
                          uint64_t columns) {
    TW_RETURN_IF_ERROR(Check(
        library_.layout_create(&layout, problem.type, rows, columns, static_cast<int64_t>(rows)),
        "cublasLtMatrixLayoutCreate"));
    if (problem.batches == 1) return absl::OkStatus();
    const auto stride = static_cast<int64_t>(rows * columns);
    absl::Status status = Check(library_.layout_set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                    &problem.batches, sizeof(problem.batches)),
                                "cublasLtMatrixLayoutSetAttribute");
    if (!status.ok()) return status;
    return Check(library_.layout_set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                     sizeof(stride)),
                 "cublasLtMatrixLayoutSetAttribute");
  }

  absl::Status FindAlgorithms() {
    cublasLtMatmulPreference_t preference = nullptr;
    TW_RETURN_IF_ERROR(
        Check(library_.preference_create(&preference), "cublasLtMatmulPreferenceCreate"));
    const uint64_t workspace_bytes = kCublasLtWorkspaceBytes;
    absl::Status status =
        Check(library_.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                      &workspace_bytes, sizeof(workspace_bytes)),
              "cublasLtMatmulPreferenceSetAttribute");
    found_.resize(kMaxAlgorithms);
    int count = 0;
    if (status.ok()) {
      status = Check(library_.heuristic(handle_, desc_, first_, second_, result_, result_,
                                        preference, kMaxAlgorithms, found_.data(), &count),
                     "cublasLtMatmulAlgoGetHeuristic");
    }
    library_.preference_destroy(preference);
    TW_RETURN_IF_ERROR(status);
    found_.resize(static_cast<size_t>(count));
    std::erase_if(found_, [](const auto& result) { return result.state != CUBLAS_STATUS_SUCCESS; });
    return found_.empty() ? NotFound("cuBLASLt has no algorithm for this problem")
                          : absl::OkStatus();
  }

  Library library_{};
  cublasLtHandle_t handle_ = nullptr;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t first_ = nullptr, second_ = nullptr, result_ = nullptr;
  std::vector<cublasLtMatmulHeuristicResult_t> found_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CublasLtGemm>> CublasLtGemm::Create(const CallDesc& call,
                                                                   const std::string& library) {
  TW_ASSIGN_OR_RETURN(const Problem problem, ProblemOf(call));
  auto gemm = std::make_unique<CublasLtGemmImpl>();
  TW_RETURN_IF_ERROR(gemm->Init(problem, library));
  return gemm;
}

}  // namespace tilewright
