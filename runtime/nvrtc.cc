// NVRTC, loaded when first needed. The only file that knows it.
#include <dlfcn.h>
#include <glob.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "manifest/digest.h"
#include "manifest/status.h"
#include "runtime/compiler.h"
#include "runtime/cubin.h"

namespace tilewright {
namespace {

using Program = struct _nvrtcProgram*;

constexpr char kGivenPath[] = "TILEWRIGHT_NVRTC (RuntimeOptions::nvrtc_path) is ";

// The entry points that are used, with their declarations in nvrtc.h; 0 is success.
struct Entries {
  int (*nvrtcVersion)(int*, int*) = nullptr;
  const char* (*nvrtcGetErrorString)(int) = nullptr;
  int (*nvrtcCreateProgram)(Program*, const char*, const char*, int, const char* const*,
                            const char* const*) = nullptr;
  int (*nvrtcDestroyProgram)(Program*) = nullptr;
  int (*nvrtcAddNameExpression)(Program, const char*) = nullptr;
  int (*nvrtcCompileProgram)(Program, int, const char* const*) = nullptr;
  int (*nvrtcGetProgramLogSize)(Program, size_t*) = nullptr;
  int (*nvrtcGetProgramLog)(Program, char*) = nullptr;
  int (*nvrtcGetLoweredName)(Program, const char*, const char**) = nullptr;
  int (*nvrtcGetCUBINSize)(Program, size_t*) = nullptr;
  int (*nvrtcGetCUBIN)(Program, char*) = nullptr;
};

// Destroys the program at the end of the scope.
class ScopedProgram {
 public:
  explicit ScopedProgram(const Entries& entries) : entries_(entries) {}
  ~ScopedProgram() {
    if (program_ != nullptr) entries_.nvrtcDestroyProgram(&program_);
  }
  ScopedProgram(const ScopedProgram&) = delete;
  ScopedProgram& operator=(const ScopedProgram&) = delete;
  Program* out() { return &program_; }
  Program get() const { return program_; }

 private:
  const Entries& entries_;
  Program program_ = nullptr;
};

std::vector<std::string> Glob(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  }
  globfree(&found);
  return paths;
}

// Not libnvrtc-builtins, not the .alt build.
std::string LibraryPattern(const std::string& directory) {
  return directory + "/libnvrtc.so.[1-9][0-9]";
}

// libnvrtc.so.13 before libnvrtc.so.12.
std::vector<std::string> LibrariesIn(const std::string& directory) {
  std::vector<std::string> paths = Glob(LibraryPattern(directory));
  return {paths.rbegin(), paths.rend()};
}

// Why LibrariesIn() found none: folders that are not there, or could not be read for want of
// memory or file handles.
std::string WhyNoLibraryIn(const std::string& directory) {
  glob_t found{};
  errno = 0;
  const int result = glob(LibraryPattern(directory).c_str(), GLOB_ERR, nullptr, &found);
  const int error = result == GLOB_NOSPACE ? ENOMEM : result == GLOB_ABORTED ? errno : 0;
  globfree(&found);
  if (error == 0 || error == ENOENT || error == ENOTDIR) return "no libnvrtc.so.13 or .12";
  return Cat("cannot be searched: ", strerror(error));
}

// Where the library `name` lies, which was opened by its name alone, since the loader's own path
// leads there or since it is loaded already. The folder is copied by the loader, under its own
// lock.
std::string FileOf(void* handle, const std::string& name) {
  std::array<char, PATH_MAX> folder{};
  if (dlinfo(handle, RTLD_DI_ORIGIN, folder.data()) != 0) return name;
  return Cat(folder.data(), "/", name);
}

// NVRTC opens its built-ins by name alone, and so finds them only where the loader's own path
// leads. Loaded before it asks, from beside the library, they are found on any machine.
void LoadBuiltinsBeside(const std::string& library) {
  const size_t slash = library.rfind('/');
  const size_t version = library.find(".so", slash);
  if (slash == std::string::npos || version == std::string::npos) return;
  const std::string builtins =
      Cat(library.substr(0, slash), "/libnvrtc-builtins", library.substr(version), "*");
  for (const std::string& path : Glob(builtins)) dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Folders of the CUDA toolkit and of the nvidia-cuda-nvrtc wheels; `*` as in glob().
std::vector<std::string> DefaultPatterns() {
  std::vector<std::string> patterns = {"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64",
                                       "/opt/cuda/lib64"};
  for (const char* root : {"/usr/lib/python3*", "/usr/local/lib/python3*"}) {
    for (const char* packages : {"dist-packages", "site-packages"}) {
      for (const char* wheel : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"}) {
        patterns.push_back(Cat(root, "/", packages, "/", wheel));
      }
    }
  }
  return patterns;
}

// The source of a failed compile for the reader of its error: its text and, where there is a folder
// for such sources, the path under which it is kept there, which is the same for the same text.
std::string ShownSource(const std::string& source, const std::string& folder) {
  if (folder.empty()) return "\nsource:\n" + source;
  Digest digest;
  const std::string path = Cat(folder, "/tilewright-", digest.Add(source).Hex(), ".cu");
  std::ofstream file(path, std::ios::binary);
  file << source;
  file.close();
  return Cat("\nsource: ", file ? path : Cat("(cannot write ", path, ")"), "\n", source);
}

// "13.0.88", which ptxas notes in every cubin as "release 13.0, V13.0.88"; empty if it does not.
std::string BuildOf(std::string_view cubin) {
  const size_t release = cubin.find("Cuda compilation tools, release ");
  const size_t version = cubin.find(", V", release);
  if (release == std::string_view::npos || version == std::string_view::npos) return "";
  const size_t begin = version + 3;
  const size_t end = cubin.find_first_not_of("0123456789.", begin);
  return std::string(cubin.substr(begin, end - begin));
}

// True where a compile failed for want of memory or of files, which says nothing of its source.
bool IsOfTheMachine(int result, std::string_view log) {
  constexpr int kOutOfMemory = 1;
  constexpr int kProgramCreationFailure = 2;
  constexpr int kBuiltinOperationFailure = 7;
  return result == kOutOfMemory || result == kProgramCreationFailure ||
         result == kBuiltinOperationFailure ||
         log.find("catastrophic error: out of memory") != std::string_view::npos ||
         log.find("Memory allocation failure") != std::string_view::npos;
}

class Nvrtc final : public Compiler {
 public:
  Nvrtc(std::string explicit_path, std::vector<std::string> search_dirs, std::string source_dir)
      : explicit_path_(std::move(explicit_path)),
        search_dirs_(std::move(search_dirs)),
        source_dir_(std::move(source_dir)) {}

  absl::StatusOr<CompiledKernel> Compile(const CompileRequest& request) override {
    TW_RETURN_IF_ERROR(Load());
    const auto start = std::chrono::steady_clock::now();
    ScopedProgram program(entries_);
    TW_RETURN_IF_ERROR(Create(request, program));
    CompiledKernel kernel;
    const bool minimal = request.minimal && KnowsMinimal();
    const absl::Status built = Build(request, minimal, program.get(), kernel);
    if (!built.ok() && minimal) {
      CompileRequest whole = request;
      whole.minimal = false;
      return Compile(whole);
    }
    TW_RETURN_IF_ERROR(built);
    TW_RETURN_IF_ERROR(TakeResult(request, program.get(), kernel));
    kernel.compile_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return kernel;
  }

  // Compiles an empty kernel once: NVRTC itself tells no more than major.minor.
  absl::StatusOr<std::string> Version() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!version_.empty()) return version_;
    }
    CompileRequest request;
    request.source = "template <int> __global__ void Empty() {}";
    request.name_expression = "Empty<0>";
    request.arch = "sm_90";
    TW_ASSIGN_OR_RETURN(const CompiledKernel kernel, Compile(request));
    return kernel.compiler;
  }

 private:
  absl::Status Load() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (entries_.nvrtcVersion != nullptr) return absl::OkStatus();
    TW_ASSIGN_OR_RETURN(void* library, Open());
    Entries found;
#define TW_NVRTC_ENTRY(name)                                                  \
  found.name = reinterpret_cast<decltype(found.name)>(dlsym(library, #name)); \
  if (found.name == nullptr) return FailedPrecondition("NVRTC ", path_, " has no ", #name)
    TW_NVRTC_ENTRY(nvrtcVersion);
    TW_NVRTC_ENTRY(nvrtcGetErrorString);
    TW_NVRTC_ENTRY(nvrtcCreateProgram);
    TW_NVRTC_ENTRY(nvrtcDestroyProgram);
    TW_NVRTC_ENTRY(nvrtcAddNameExpression);
    TW_NVRTC_ENTRY(nvrtcCompileProgram);
    TW_NVRTC_ENTRY(nvrtcGetProgramLogSize);
    TW_NVRTC_ENTRY(nvrtcGetProgramLog);
    TW_NVRTC_ENTRY(nvrtcGetLoweredName);
    TW_NVRTC_ENTRY(nvrtcGetCUBINSize);
    TW_NVRTC_ENTRY(nvrtcGetCUBIN);
#undef TW_NVRTC_ENTRY
    entries_ = found;
    return absl::OkStatus();
  }

  // The explicit path (a library or its folder) alone, else every usual place. Holds mutex_.
  absl::StatusOr<void*> Open() {
    std::string sought;
    const auto attempt = [&](const std::string& path) -> void* {
      void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) {
        path_ = path.find('/') == std::string::npos ? FileOf(library, path) : path;
        LoadBuiltinsBeside(path_);
      } else {
        sought += Cat("\n  ", dlerror());
      }
      return library;
    };
    if (!explicit_path_.empty() && !std::filesystem::is_directory(explicit_path_)) {
      if (void* library = attempt(explicit_path_)) return library;
      return FailedPrecondition(kGivenPath, explicit_path_,
                                ", from which NVRTC cannot be loaded:", sought);
    }
    std::vector<std::string> patterns = {explicit_path_};
    if (explicit_path_.empty()) {
      patterns = search_dirs_;
      for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
        if (void* library = attempt(name)) return library;
      }
      for (std::string& pattern : DefaultPatterns()) patterns.push_back(std::move(pattern));
    }
    for (const std::string& pattern : patterns) {
      const std::vector<std::string> libraries = LibrariesIn(pattern);
      if (libraries.empty()) sought += Cat("\n  ", pattern, ": ", WhyNoLibraryIn(pattern));
      for (const std::string& path : libraries) {
        if (void* library = attempt(path)) return library;
      }
    }
    if (!explicit_path_.empty()) {
      return FailedPrecondition(kGivenPath, explicit_path_,
                                ", a folder without NVRTC; sought:", sought);
    }
    return FailedPrecondition("no NVRTC on this machine; sought:", sought);
  }

  absl::Status Create(const CompileRequest& request, ScopedProgram& program) {
    std::vector<const char*> names;
    std::vector<const char*> texts;
    for (const auto& [name, text] : request.headers) {
      names.push_back(name.c_str());
      texts.push_back(text.c_str());
    }
    TW_RETURN_IF_ERROR(Check(
        "nvrtcCreateProgram",
        entries_.nvrtcCreateProgram(program.out(), request.source.c_str(), "tilewright.cu",
                                    static_cast<int>(names.size()), texts.data(), names.data())));
    return Check("nvrtcAddNameExpression",
                 entries_.nvrtcAddNameExpression(program.get(), request.name_expression.c_str()));
  }

  // NVRTC 12 may not.
  bool KnowsMinimal() const {
    int major = 0;
    int minor = 0;
    return entries_.nvrtcVersion(&major, &minor) == 0 && major >= 13;
  }

  absl::Status Build(const CompileRequest& request, bool minimal, Program program,
                     CompiledKernel& kernel) {
    std::vector<std::string> flags = {"-arch=" + request.arch};
    for (std::string& flag : FixedCompileFlags()) flags.push_back(std::move(flag));
    // Leave no trace in keys: none changes the code.
    if (minimal) flags.push_back("--minimal");
    flags.push_back("--no-cache");
    flags.push_back("--ptxas-options=--warn-on-spills");
    flags.insert(flags.end(), request.flags.begin(), request.flags.end());
    std::vector<const char*> arguments;
    for (const std::string& flag : flags) arguments.push_back(flag.c_str());
    const int result =
        entries_.nvrtcCompileProgram(program, static_cast<int>(arguments.size()), arguments.data());
    size_t log_size = 0;
    if (entries_.nvrtcGetProgramLogSize(program, &log_size) == 0 && log_size > 1) {
      kernel.log.resize(log_size);
      if (entries_.nvrtcGetProgramLog(program, kernel.log.data()) != 0) kernel.log.clear();
      kernel.log.resize(kernel.log.find_last_not_of(std::string_view("\0\n", 2)) + 1);
    }
    if (result == 0) return absl::OkStatus();
    if (IsOfTheMachine(result, kernel.log)) {
      return ResourceExhausted("compiling ", request.name_expression, ": ",
                               entries_.nvrtcGetErrorString(result), "\n", kernel.log);
    }
    return Internal("compiling ", request.name_expression, " for ", request.arch, ": ",
                    entries_.nvrtcGetErrorString(result), "\n", kernel.log,
                    ShownSource(request.source, source_dir_));
  }

  absl::Status TakeResult(const CompileRequest& request, Program program, CompiledKernel& kernel) {
    const char* lowered = nullptr;
    TW_RETURN_IF_ERROR(
        Check("nvrtcGetLoweredName",
              entries_.nvrtcGetLoweredName(program, request.name_expression.c_str(), &lowered)));
    kernel.lowered_name = lowered;
    size_t size = 0;
    TW_RETURN_IF_ERROR(Check("nvrtcGetCUBINSize", entries_.nvrtcGetCUBINSize(program, &size)));
    kernel.cubin.resize(size);
    TW_RETURN_IF_ERROR(
        Check("nvrtcGetCUBIN", entries_.nvrtcGetCUBIN(program, kernel.cubin.data())));
    TW_ASSIGN_OR_RETURN(const CubinInfo info, ReadCubin(kernel.cubin));
    const CubinKernel* found = info.Find(kernel.lowered_name);
    if (found == nullptr) return Internal("the cubin has no kernel ", kernel.lowered_name);
    kernel.registers = found->registers;
    kernel.static_smem_bytes = found->static_smem_bytes;
    kernel.spill_bytes = found->spill_bytes();
    kernel.gates = CompileGates(kernel.log, kernel.spill_bytes);
    kernel.compiler = NoteVersion(kernel.cubin);
    return absl::OkStatus();
  }

  std::string NoteVersion(std::string_view cubin) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (version_.empty()) {
      std::string build = BuildOf(cubin);
      int major = 0;
      int minor = 0;
      if (build.empty() && entries_.nvrtcVersion(&major, &minor) == 0) {
        build = Cat(major, ".", minor);
      }
      version_ = "nvrtc " + build;
    }
    return version_;
  }

  absl::Status Check(std::string_view entry_point, int result) {
    if (result == 0) return absl::OkStatus();
    const std::string text = Cat(entry_point, ": ", entries_.nvrtcGetErrorString(result));
    return IsOfTheMachine(result, "") ? ResourceExhausted(text) : Internal(text);
  }

  const std::string explicit_path_;
  const std::vector<std::string> search_dirs_;
  const std::string source_dir_;
  std::mutex mutex_;
  std::string path_;
  std::string version_;
  Entries entries_;  // written once, under mutex_
};

}  // namespace

std::vector<std::string> CompileGates(std::string_view log, int64_t spill_bytes) {
  std::vector<std::string> gates;
  const auto says = [&](std::string_view text) { return log.find(text) != std::string_view::npos; };
  if (says("C7510") || says("C7511") || says("wgmma.mma_async instructions are serialized")) {
    gates.push_back("wgmma serialized");
  }
  if (says("C7508") || says("setmaxnreg ignored") || says("'setmaxnreg' ignored")) {
    gates.push_back("setmaxnreg ignored");
  }
  if (spill_bytes > 0) gates.push_back(Cat("spills ", spill_bytes, " bytes"));
  return gates;
}

std::vector<std::string> FixedCompileFlags() { return {"-std=c++20", "-default-device"}; }

std::shared_ptr<Compiler> NvrtcCompiler(std::string explicit_path,
                                        std::vector<std::string> search_dirs,
                                        std::string source_dir) {
  return std::make_shared<Nvrtc>(std::move(explicit_path), std::move(search_dirs),
                                 std::move(source_dir));
}

}  // namespace tilewright
