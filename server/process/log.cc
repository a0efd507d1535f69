#include "server/process/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/syslog_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

// spdlog's levels from trace to warn have the numbers of LogLevel. Higher levels are warnings, too.
LogLevel LevelOf(spdlog::level::level_enum level) {
  return std::min(static_cast<LogLevel>(level), LogLevel::kWarning);
}

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  return static_cast<spdlog::level::level_enum>(level);
}

// Indexed by SyslogFacility.
constexpr int kFacilities[] = {LOG_USER,   LOG_LOCAL0, LOG_LOCAL1, LOG_LOCAL2, LOG_LOCAL3,
                               LOG_LOCAL4, LOG_LOCAL5, LOG_LOCAL6, LOG_LOCAL7};
static_assert(std::size(kFacilities) == std::size(kSyslogFacilities));

std::atomic<char> role = 'M';

class Role : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg&, const std::tm&,
              spdlog::memory_buf_t& line) override {
    line.push_back(role.load(std::memory_order_relaxed));
  }
  std::unique_ptr<custom_flag_formatter> clone() const override { return std::make_unique<Role>(); }
};

class LevelMark : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    constexpr std::string_view kMarks = ".-*#";  // by LogLevel
    line.push_back(kMarks[static_cast<size_t>(LevelOf(message.level))]);
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelMark>();
  }
};

class EscapedText : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&,
              spdlog::memory_buf_t& line) override {
    constexpr char kDigits[] = "0123456789abcdef";
    for (const char byte : message.payload) {
      const auto code = static_cast<unsigned char>(byte);
      if (code >= ' ' && code != 0x7f) {
        line.push_back(byte);
      } else {
        const char escaped[] = {'\\', 'x', kDigits[code >> 4], kDigits[code & 0xf]};
        line.append(std::begin(escaped), std::end(escaped));
      }
    }
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<EscapedText>();
  }
};

// %& is the role, %* the level's mark, and %! the escaped text.
std::unique_ptr<spdlog::formatter> Formatter(const std::string& pattern, const std::string& end) {
  auto formatter =
      std::make_unique<spdlog::pattern_formatter>(spdlog::pattern_time_type::local, end);
  formatter->add_flag<Role>('&').add_flag<LevelMark>('*').add_flag<EscapedText>('!').set_pattern(
      pattern);
  return formatter;
}

absl::Status MakeSink(const std::string& file, spdlog::sink_ptr& sink) {
  // Checks the file first, because spdlog throws if it cannot open it.
  if (!file.empty() && !std::ofstream(file, std::ios::app)) {
    return Refusal("Cannot open the log file '" + file + "': " + std::strerror(errno));
  }
  if (file.empty()) {
    sink = std::make_shared<spdlog::sinks::stdout_sink_mt>();
  } else {
    sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
  }
  sink->set_formatter(Formatter("%P:%& %d %b %Y %H:%M:%S.%e %* %!", "\n"));
  return absl::OkStatus();
}

spdlog::sink_ptr SystemSink(const Settings& settings) {
  const int facility = kFacilities[static_cast<size_t>(settings.syslog_facility)];
  auto sink = std::make_shared<spdlog::sinks::syslog_sink_mt>(
      settings.syslog_ident, LOG_PID | LOG_NDELAY, facility, /*enable_formatting=*/true);
  sink->set_formatter(Formatter("%!", ""));
  return sink;
}

// The first sink is the file or standard output.
void LogTo(const std::vector<spdlog::sink_ptr>& sinks) {
  auto logger = std::make_shared<spdlog::logger>("zsetd", sinks.begin(), sinks.end());
  logger->flush_on(spdlog::level::trace);
  logger->set_level(spdlog::get_level());
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace

absl::Status OpenLog(const Settings& settings) {
  std::vector<spdlog::sink_ptr> sinks(1);
  if (absl::Status status = MakeSink(settings.logfile, sinks[0]); !status.ok()) return status;
  if (settings.syslog_enabled) sinks.push_back(SystemSink(settings));
  LogTo(sinks);
  SetLogLevel(settings.loglevel);
  return absl::OkStatus();
}

// Keeps the sink of the system's log, because a second one would be closed with the first.
absl::Status ReopenLogFile(const std::string& file) {
  if (file.empty()) return absl::OkStatus();
  std::vector<spdlog::sink_ptr> sinks = spdlog::default_logger()->sinks();
  if (absl::Status status = MakeSink(file, sinks.at(0)); !status.ok()) return status;
  LogTo(sinks);
  return absl::OkStatus();
}

bool SpdlogLog::IsOn(LogLevel level) const { return spdlog::should_log(SpdlogLevel(level)); }

void SpdlogLog::Write(LogLevel level, std::string_view text) const {
  spdlog::log(SpdlogLevel(level), "{}", text);
}

void SetLogRole(bool is_replica) { role.store(is_replica ? 'S' : 'M', std::memory_order_relaxed); }

void SetLogLevel(LogLevel level) { spdlog::set_level(SpdlogLevel(level)); }

}  // namespace zsetd
