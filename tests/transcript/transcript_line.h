#pragma once

#include <optional>
#include <string_view>

#include "core/util/time.h"

namespace zsetd {

// What a line of a transcript is, by its head alone.
enum class LineKind {
  kNothing,  // empty, or a comment
  kRequest,  // NAME> words
  kRaw,      // NAME>> "bytes"
  kHeard,    // NAME<
  kTime,     // +milliseconds
  kOracle,   // 7.0.15| a reply line of that server
  kReply,    // anything else
};
LineKind KindOfLine(std::string_view line);

// Takes the client's name and the mark after it from the head of a line of the first three kinds.
std::string_view TakeName(std::string_view& line);

// Takes "7.0.15| ".
void TakeOracleMark(std::string_view& line);

// The time of a line of that kind.
Millis TimeOfLine(std::string_view line);

}  // namespace zsetd
