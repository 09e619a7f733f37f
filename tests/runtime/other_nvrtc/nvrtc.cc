// An NVRTC of another build, for tests: the machine's own behind the same entry points, but that
// the cubins say that build 99 made them.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace {

using Program = struct _nvrtcProgram*;

void* Real() {
  static void* const library = [] {
    for (const char* name : {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13",
                             "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so.12"}) {
      if (void* found = dlopen(name, RTLD_NOW | RTLD_LOCAL); found != nullptr) return found;
    }
    return static_cast<void*>(nullptr);
  }();
  return library;
}

template <class Function>
Function* Entry(const char* name) {
  return reinterpret_cast<Function*>(dlsym(Real(), name));
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  return Entry<int(int*, int*)>("nvrtcVersion")(major, minor);
}
const char* nvrtcGetErrorString(int result) {
  return Entry<const char*(int)>("nvrtcGetErrorString")(result);
}
int nvrtcCreateProgram(Program* program, const char* source, const char* name, int count,
                       const char* const* headers, const char* const* names) {
  return Entry<decltype(nvrtcCreateProgram)>("nvrtcCreateProgram")(program, source, name, count,
                                                                   headers, names);
}
int nvrtcDestroyProgram(Program* program) {
  return Entry<int(Program*)>("nvrtcDestroyProgram")(program);
}
int nvrtcAddNameExpression(Program program, const char* name) {
  return Entry<int(Program, const char*)>("nvrtcAddNameExpression")(program, name);
}
// TILEWRIGHT_TEST_NVRTC_FAILS=<code>: fails with that code.
int nvrtcCompileProgram(Program program, int count, const char* const* options) {
  if (const char* code = getenv("TILEWRIGHT_TEST_NVRTC_FAILS"); code != nullptr) return atoi(code);
  return Entry<decltype(nvrtcCompileProgram)>("nvrtcCompileProgram")(program, count, options);
}
int nvrtcGetProgramLogSize(Program program, size_t* size) {
  return Entry<int(Program, size_t*)>("nvrtcGetProgramLogSize")(program, size);
}
int nvrtcGetProgramLog(Program program, char* log) {
  return Entry<int(Program, char*)>("nvrtcGetProgramLog")(program, log);
}
int nvrtcGetLoweredName(Program program, const char* name, const char** lowered) {
  return Entry<decltype(nvrtcGetLoweredName)>("nvrtcGetLoweredName")(program, name, lowered);
}
int nvrtcGetCUBINSize(Program program, size_t* size) {
  return Entry<int(Program, size_t*)>("nvrtcGetCUBINSize")(program, size);
}

// ptxas notes "release 13.0, V13.0.88": the digits of the build become nines.
int nvrtcGetCUBIN(Program program, char* cubin) {
  size_t size = 0;
  if (const int failed = nvrtcGetCUBINSize(program, &size); failed != 0) return failed;
  const int result = Entry<int(Program, char*)>("nvrtcGetCUBIN")(program, cubin);
  const std::string_view text(cubin, size);
  const size_t release = text.find("Cuda compilation tools, release ");
  if (result != 0 || release == std::string_view::npos) return result;
  const size_t version = text.find(", V", release);
  if (version == std::string_view::npos) return result;
  const size_t end = text.find_first_not_of("0123456789.", version + 3);
  const size_t build = text.rfind('.', end) + 1;
  std::fill(cubin + build, cubin + end, '9');
  return result;
}

}  // extern "C"
