#pragma once

#include <string_view>

namespace zsetd {

enum class LogLevel { kDebug, kVerbose, kNotice, kWarning };

// The server's log. Each line has one of the levels of the setting `loglevel`. All threads may
// write to it.
class Log {
 public:
  virtual ~Log() = default;

  // Whether lines of this level are written.
  virtual bool IsOn(LogLevel level) const = 0;

  // Writes the text as one line, unless the level is off.
  virtual void Write(LogLevel level, std::string_view text) const = 0;
};

// A log that drops its lines.
class NoLog : public Log {
 public:
  bool IsOn(LogLevel) const override { return false; }
  void Write(LogLevel, std::string_view) const override {}
};

inline const NoLog kNoLog;

}  // namespace zsetd
