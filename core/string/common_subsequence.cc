#include "core/string/common_subsequence.h"

#include <algorithm>

namespace zsetd {
namespace {

// The lengths of the longest common subsequences of the first i bytes of one string and the first j
// bytes of the other; 0 if i or j is 0.
class Table {
 public:
  Table(std::string_view first, std::string_view second)
      : width_(second.size() + 1), sizes_((first.size() + 1) * width_) {
    for (size_t i = 1; i <= first.size(); ++i) {
      for (size_t j = 1; j <= second.size(); ++j) {
        const bool alike = first[i - 1] == second[j - 1];
        sizes_[i * width_ + j] =
            alike ? At(i - 1, j - 1) + 1 : std::max(At(i - 1, j), At(i, j - 1));
      }
    }
  }

  uint32_t At(size_t i, size_t j) const { return sizes_[i * width_ + j]; }

 private:
  size_t width_;
  std::vector<uint32_t> sizes_;
};

// Adds one more byte before the last run, or begins another run with it.
void Prepend(size_t i, size_t j, bool adjoins, std::vector<CommonRun>& runs) {
  if (adjoins) {
    --runs.back().first_start;
    --runs.back().second_start;
    ++runs.back().size;
  } else {
    runs.push_back({.first_start = i, .second_start = j, .size = 1});
  }
}

}  // namespace

CommonSubsequence LongestCommonSubsequence(std::string_view first, std::string_view second) {
  const Table table(first, second);
  size_t i = first.size();
  size_t j = second.size();
  CommonSubsequence common = {.size = table.At(i, j), .runs = {}};
  bool adjoins = false;  // the previous byte was a common one
  while (i > 0 && j > 0) {
    const bool alike = first[i - 1] == second[j - 1];
    if (alike) {
      Prepend(--i, --j, adjoins, common.runs);
    } else {
      table.At(i - 1, j) > table.At(i, j - 1) ? --i : --j;
    }
    adjoins = alike;
  }
  return common;
}

uint64_t TableBytes(uint64_t first_size, uint64_t second_size) {
  const auto bytes = static_cast<unsigned __int128>(first_size + 1) * (second_size + 1) * 4;
  return bytes > UINT64_MAX ? UINT64_MAX : static_cast<uint64_t>(bytes);
}

std::string Text(const CommonSubsequence& common, std::string_view first) {
  std::string text;
  text.reserve(common.size);
  for (auto run = common.runs.rbegin(); run != common.runs.rend(); ++run) {
    text.append(first.substr(run->first_start, run->size));
  }
  return text;
}

}  // namespace zsetd
