#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace zsetd {

// One line of a reply, as a transcript asks for it.
struct LinePattern {
  enum class Kind {
    kExact,     // these very bytes
    kRegex,     // a line that, escaped as ShowLine does, matches the expression
    kAnyLines,  // any number of lines
  };
  Kind kind = Kind::kExact;
  std::string text;
};

// What a client is to hear at one point: nothing at all (it waits), or the lines, and perhaps then
// the end of the connection.
struct Expectation {
  std::vector<LinePattern> lines;
  bool waits = false;
  bool closed = false;

  bool empty() const { return lines.empty() && !waits && !closed; }
};

// Reads one line that stands under a request and adds it to what is expected. Returns what is wrong
// with it, or nothing.
std::string_view AddLine(std::string_view line, Expectation& expected);

// Whether the bytes that came are the lines asked for. `closed` is not judged here.
bool Matches(const Expectation& expected, std::string_view bytes);

// A line as a transcript would have it: printable, and not to be taken for anything but a reply.
std::string ShowLine(std::string_view line);

// Each line of the bytes so. What follows the last line end is marked as cut short.
std::vector<std::string> ShowLines(std::string_view bytes);

// An expectation, as the file has it.
std::vector<std::string> ShowLines(const Expectation& expected);

}  // namespace zsetd
