// Whether this process has a shared library loaded.
#ifndef TILEWRIGHT_TESTS_RUNTIME_MAPPED_LIBRARY_H_
#define TILEWRIGHT_TESTS_RUNTIME_MAPPED_LIBRARY_H_

#include <fstream>
#include <string>

namespace tilewright {

// `name` is part of a path in /proc/self/maps.
inline bool LibraryIsMapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) != std::string::npos) return true;
  }
  return false;
}

}  // namespace tilewright

#endif  // TILEWRIGHT_TESTS_RUNTIME_MAPPED_LIBRARY_H_
