#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "protocol/resp/args.h"
#include "server/engine/support/errors.h"

namespace zsetd {

// Reads the arguments of a request from left to right and keeps the first error: after one, every
// read returns an empty or zero value, so that a command can read all arguments and check the
// status once.
class ArgReader {
 public:
  // Starts at words[first], which may be one past the end.
  ArgReader(Args argv, size_t first) : argv_(argv), next_(first) {}

  bool AtEnd() const { return next_ >= argv_.size(); }
  size_t left() const { return AtEnd() ? 0 : argv_.size() - next_; }

  // The next argument without taking it; empty at the end.
  std::string_view Peek() const { return AtEnd() ? std::string_view() : argv_[next_]; }

  // The next argument; a syntax error if the arguments have ended.
  std::string_view Word() {
    if (AtEnd()) [[unlikely]]
      Refuse(kSyntaxError);
    return ok() ? argv_[next_++] : std::string_view();
  }

  // Whether the next argument may be an option: it begins with a letter, as no number does but inf
  // and nan. Saves comparing a number with each option.
  bool MayTakeOption() const {
    const std::string_view next = Peek();
    return ok() && !next.empty() && absl::ascii_isalpha(static_cast<unsigned char>(next[0]));
  }

  // Takes the next argument if it is this option, in any case. Most arguments differ from an option
  // in length.
  bool Take(std::string_view option) {
    return Peek().size() == option.size() && TakeIfEqual(option);
  }

  // The next argument as a number, or `error`.
  int64_t Integer(std::string_view error = kNotAnInteger);
  int64_t IntegerIn(int64_t min, int64_t max, std::string_view error);
  double Float(std::string_view error = kNotAFloat);

  // Takes all that is left, or the next `count`; a syntax error if they are fewer.
  Args Rest() { return Next(left()); }
  Args Next(size_t count);

  // A syntax error if arguments are left.
  void End();

  // Keeps this error, unless there was one before.
  void Refuse(std::string_view line);
  void Refuse(absl::Status status);

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  bool TakeIfEqual(std::string_view option);

  Args argv_;
  size_t next_;
  absl::Status status_;
};

}  // namespace zsetd
