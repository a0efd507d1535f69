#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace zsetd {

// A part of the usage of a command, as an argument of kUsage.
template <size_t kSize>
struct UsagePart {
  consteval UsagePart(const char (&part)[kSize]) { std::copy_n(part, kSize, text); }  // NOLINT

  static constexpr size_t size() { return kSize - 1; }

  char text[kSize] = {};  // with a zero at the end
};

namespace internal {

template <UsagePart... kParts>
inline constexpr auto kUsageBytes = [] {
  std::array<char, (kParts.size() + ...)> text = {};
  char* end = text.data();
  ((end = std::copy_n(kParts.text, kParts.size(), end)), ...);
  return text;
}();

}  // namespace internal

// The usage of a command that has parts in common with others:
//
//     .usage = kUsage<"key ", kSetsTime, " member">,
template <UsagePart... kParts>
inline constexpr std::string_view kUsage(internal::kUsageBytes<kParts...>.data(),
                                         internal::kUsageBytes<kParts...>.size());

// Options that set an expiration, or keep it.
inline constexpr UsagePart kSetsTime =
    "[EX seconds|PX milliseconds|EXAT unix-time-seconds|PXAT unix-time-milliseconds|KEEPTTL]";

// The form of the scores of a sorted set, and the largest number of its members.
inline constexpr UsagePart kScoreForm =
    "[FORM <DOUBLE|INT64|TUPLE field [field ...] END|HALFLIFE seconds [LOG2]>]";
inline constexpr UsagePart kMostMembers = "[MAXLEN count [KEEP <HIGHEST|LOWEST>]]";

}  // namespace zsetd
