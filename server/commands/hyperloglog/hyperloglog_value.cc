#include "server/commands/hyperloglog/hyperloglog_value.h"

#include "core/string/byte_string.h"

namespace zsetd {
namespace {

constexpr std::string_view kNotHyperLogLog =
    "WRONGTYPE Key is not a valid HyperLogLog string value.";

}  // namespace

std::optional<HyperLogLog> FindHyperLogLog(Call& call, std::string_view key) {
  const std::optional<ByteString> string = call.Find<ByteString>(key);
  if (!string) return std::nullopt;
  const std::optional<HyperLogLog> found = HyperLogLog::From(string->view());
  if (!found) call.args.Refuse(kNotHyperLogLog);
  return found;
}

Edit<ByteString> OpenHyperLogLog(Call& call, std::string_view key, KeyEvent event) {
  Edit<ByteString> string = call.Open<ByteString>(key, event);
  if (string && !HyperLogLog::From(string.view())) call.args.Refuse(kNotHyperLogLog);
  return string;
}

}  // namespace zsetd
