#pragma once

#include <string>
#include <vector>

namespace zsetd {

// The words of both requests, one after the other.
inline std::vector<std::string> operator+(std::vector<std::string> a,
                                          const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline std::string Upper(std::string text) {
  for (char& each : text) {
    if (each >= 'a' && each <= 'z') each = static_cast<char>(each - 'a' + 'A');
  }
  return text;
}

}  // namespace zsetd
