#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// One line of an expected reply.
struct LinePattern {
  enum class Kind {
    kExact,     // exactly these bytes
    kRegex,     // a line that, escaped as ShowLine does, matches the expression
    kAnyLines,  // any number of lines
  };
  Kind kind = Kind::kExact;
  std::string text;
};

// The expected output at one point: either nothing (the client waits), or lines, optionally
// followed by the end of the connection.
struct Expectation {
  std::vector<LinePattern> lines;
  bool waits = false;
  bool closed = false;

  bool empty() const { return lines.empty() && !waits && !closed; }
};

// Parses one line below a request and adds it to the expectation. Returns the error; empty if
// valid.
std::string_view AddLine(std::string_view line, Expectation& expected);

// Returns whether the bytes match the expected lines. Ignores `closed`.
bool Matches(const Expectation& expected, std::string_view bytes);

// Returns a line in the format of a transcript: printable, and not ambiguous.
std::string ShowLine(std::string_view line);

// Returns each line of the bytes in that format. Marks bytes after the last line end as cut short.
std::vector<std::string> ShowLines(std::string_view bytes);

// Returns an expectation in the format of a transcript.
std::vector<std::string> ShowLines(const Expectation& expected);

}  // namespace zsetd
