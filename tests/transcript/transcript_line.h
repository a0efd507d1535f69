#pragma once

#include <optional>
#include <string_view>

#include "core/util/time.h"

namespace zsetd {

// The kind of a line of a transcript, determined by its first characters.
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

// Takes the client's name and the mark after it from a line of kind kRequest, kRaw or kHeard.
std::string_view TakeName(std::string_view& line);

// Takes "7.0.15| ".
void TakeOracleMark(std::string_view& line);

// Returns the time of a line of kind kPass.
Millis TimeOfLine(std::string_view line);

}  // namespace zsetd
