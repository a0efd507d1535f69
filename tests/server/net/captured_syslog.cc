// Preloaded into a server, writes its messages for the system log to the file CAPTURED_SYSLOG_FILE:
// "open IDENT FACILITY", and "PRIORITY TEXT" for each message.
#include <syslog.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace {

FILE* Captured() {
  static FILE* const file = std::fopen(std::getenv("CAPTURED_SYSLOG_FILE"), "w");
  return file;
}

void Write(int priority, const char* format, va_list arguments) {
  std::fprintf(Captured(), "%d ", priority);
  std::vfprintf(Captured(), format, arguments);
  std::fputc('\n', Captured());
  std::fflush(Captured());
}

}  // namespace

extern "C" void openlog(const char* ident, int, int facility) {
  std::fprintf(Captured(), "open %s %d\n", ident, facility);
}

extern "C" void closelog() {}

extern "C" void syslog(int priority, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Write(priority, format, arguments);
  va_end(arguments);
}

// A compiler with fortified headers calls this function instead of syslog().
extern "C" void __syslog_chk(int priority, int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Write(priority, format, arguments);
  va_end(arguments);
}
