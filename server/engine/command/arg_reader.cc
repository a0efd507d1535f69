#include "server/engine/command/arg_reader.h"

#include <algorithm>
#include <utility>

#include "protocol/text/number_text.h"
#include "server/engine/support/ascii_case.h"

namespace zsetd {

bool ArgReader::TakeIfEqual(std::string_view option) {
  if (!ok() || AtEnd() || !EqualsIgnoringCase(argv_[next_], option)) return false;
  ++next_;
  return true;
}

int64_t ArgReader::Integer(std::string_view error) {
  const std::string_view word = Word();
  if (!ok()) return 0;
  const std::optional<int64_t> value = ParseInteger(word);
  if (!value) Refuse(error);
  return value.value_or(0);
}

int64_t ArgReader::IntegerIn(int64_t min, int64_t max, std::string_view error) {
  const int64_t value = Integer(error);
  if (ok() && (value < min || value > max)) Refuse(error);
  return value;
}

double ArgReader::Float(std::string_view error) {
  const std::string_view word = Word();
  if (!ok()) return 0;
  const std::optional<double> value = ParseDouble(word);
  if (!value) Refuse(error);
  return value.value_or(0);
}

Args ArgReader::Next(size_t count) {
  if (count > left()) Refuse(kSyntaxError);
  if (!ok()) return Args();
  next_ += count;
  return argv_.subspan(next_ - count, count);
}

void ArgReader::End() {
  if (!AtEnd()) Refuse(kSyntaxError);
}

void ArgReader::Refuse(std::string_view line) {
  if (ok()) status_ = Refusal(line);
}

void ArgReader::Refuse(absl::Status status) {
  if (ok()) status_ = std::move(status);
}

}  // namespace zsetd
