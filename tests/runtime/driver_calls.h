// Which entry points of the driver are made to fail by which test.
#ifndef TILEWRIGHT_TESTS_RUNTIME_DRIVER_CALLS_H_
#define TILEWRIGHT_TESTS_RUNTIME_DRIVER_CALLS_H_

#include <map>
#include <set>
#include <string>

namespace tilewright {

inline std::set<std::string> NamesOf(const std::map<std::string, int>& calls) {
  std::set<std::string> names;
  for (const auto& [name, count] : calls) names.insert(name);
  return names;
}

// By the scenario of DriverFaultTest.
inline const std::set<std::string> kRuntimeCalls = {"AllocAsync",
                                                    "Attribute",
                                                    "BeginCapture",
                                                    "CreateUserObject",
                                                    "CurrentDevice",
                                                    "DestroyGraph",
                                                    "DeviceCount",
                                                    "DeviceName",
                                                    "EncodeTensorMap",
                                                    "EndCapture",
                                                    "ExchangeCaptureMode",
                                                    "FreeAsync",
                                                    "GiveUserObject",
                                                    "Init",
                                                    "KernelFunction",
                                                    "Launch",
                                                    "LibraryKernel",
                                                    "LoadLibrary",
                                                    "Pointer",
                                                    "PopContext",
                                                    "PushContext",
                                                    "StreamContext",
                                                    "ReleasePrimaryContext",
                                                    "RetainPrimaryContext",
                                                    "SetKernelAttribute",
                                                    "StreamCapture",
                                                    "UnloadLibrary"};

// By that of WorkerTest.
inline const std::set<std::string> kWorkerCalls = {"Alloc",
                                                   "Attribute",
                                                   "BeginCapture",
                                                   "CopyOnDevice",
                                                   "CopyToDevice",
                                                   "CopyToHost",
                                                   "CreateEvent",
                                                   "CreateStream",
                                                   "DestroyEvent",
                                                   "DestroyGraph",
                                                   "DestroyGraphExec",
                                                   "DestroyStream",
                                                   "ElapsedMs",
                                                   "EndCapture",
                                                   "Fill8",
                                                   "Free",
                                                   "Init",
                                                   "Instantiate",
                                                   "KernelFunction",
                                                   "Launch",
                                                   "LaunchGraph",
                                                   "LibraryKernel",
                                                   "LoadLibrary",
                                                   "Memory",
                                                   "PopContext",
                                                   "PushContext",
                                                   "RecordEvent",
                                                   "ReleasePrimaryContext",
                                                   "RetainPrimaryContext",
                                                   "SetKernelAttribute",
                                                   "SynchronizeEvent",
                                                   "SynchronizeStream",
                                                   "UnloadLibrary"};

// By tests of their own: where a timer flushes the L2 (KernelTimerTest), after another call failed
// (DriverFaultTest.FailuresOfCleaningUp), where a device may be lost (ConformanceTest).
inline const std::set<std::string> kOtherCalls = {"Fill32", "DriverVersion", "ReleaseUserObject",
                                                  "SynchronizeContext"};

// The product does not call the first (tests on a GPU do); the second cannot fail.
inline const std::set<std::string> kNoCalls = {"CurrentContext", "LibraryPath"};

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_DRIVER_CALLS_H_
