#include "server/scripting/interpreter/script_flags.h"

#include <array>
#include <cstddef>

#include "protocol/resp/inline_words.h"
#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"no-writes", "allow-oom", "allow-stale",
                                                    "no-cluster", "allow-cross-slot-keys"};

absl::Status ReadFlags(std::string_view list, ScriptFlags& flags) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, end);
    const std::optional<ScriptFlag> flag = ScriptFlags::Find(name);
    if (!flag) return Refusal("ERR Unexpected flag in script shebang: " + std::string(name));
    flags.Add(*flag);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<ScriptFlag> ScriptFlags::Find(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<ScriptFlag>(i);
  }
  return std::nullopt;
}

std::vector<std::string_view> ScriptFlags::Names() const {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (Has(static_cast<ScriptFlag>(i))) names.push_back(kNames[i]);
  }
  return names;
}

std::optional<ScriptDeclaration> ScriptFlags::Declaration() const {
  if (is_compatible_) return std::nullopt;
  return ScriptDeclaration{
      .may_write = !Has(ScriptFlag::kNoWrites),
      .takes_memory = !Has(ScriptFlag::kNoWrites) && !Has(ScriptFlag::kAllowOom),
      .may_be_stale = Has(ScriptFlag::kAllowStale)};
}

std::optional<Shebang> ReadShebang(std::string_view text) {
  const size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos) return std::nullopt;
  auto words = SplitWords(text.substr(0, line_end));
  if (!words) return std::nullopt;
  Shebang shebang = {.engine = {}, .options = {}, .rest = text.substr(line_end)};
  shebang.engine = words->front().substr(2);
  shebang.options.assign(words->begin() + 1, words->end());
  return shebang;
}

absl::StatusOr<ScriptText> ReadScriptText(std::string_view body) {
  if (!body.starts_with("#!")) return ScriptText{ScriptFlags::Compatible(), body};
  const std::optional<Shebang> shebang = ReadShebang(body);
  if (!shebang) {
    return Refusal(body.find('\n') == std::string_view::npos
                       ? "ERR Invalid script shebang"
                       : "ERR Invalid engine in script shebang");
  }
  if (shebang->engine != "lua") {
    return Refusal("ERR Unexpected engine in script shebang: #!" + shebang->engine);
  }
  ScriptText text = {.flags = {}, .code = shebang->rest};
  for (const std::string& option : shebang->options) {
    constexpr std::string_view kFlags = "flags=";
    if (!option.starts_with(kFlags)) {
      return Refusal("ERR Unknown lua shebang option: " + option);
    }
    if (absl::Status read = ReadFlags(std::string_view(option).substr(kFlags.size()), text.flags);
        !read.ok()) {
      return read;
    }
  }
  return text;
}

}  // namespace zsetd
