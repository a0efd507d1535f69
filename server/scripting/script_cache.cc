#include "server/scripting/script_cache.h"

#include <utility>

#include "server/engine/support/errors.h"
#include "server/scripting/tail_calls.h"

namespace zsetd {
namespace {

// Only the name of the table of globals matters, and code that a script loads may contain it, too.
bool RefersToGlobals(std::string_view code) {
  return code.find("_G") != std::string_view::npos || code.find("load") != std::string_view::npos;
}

}  // namespace

const ScriptCache::Script* ScriptCache::Find(std::string_view sha) {
  const auto at = scripts_.find(sha);
  if (at == scripts_.end()) return nullptr;
  Script& script = at->second;
  if (!script.is_loaded) from_eval_.splice(from_eval_.begin(), from_eval_, script.used);
  return &script;
}

const ScriptFlags* ScriptCache::FlagsOf(std::string_view sha) const {
  const auto at = scripts_.find(sha);
  return at == scripts_.end() ? nullptr : &at->second.flags;
}

absl::StatusOr<const ScriptCache::Script*> ScriptCache::Add(std::string_view sha,
                                                            std::string_view body, bool is_loaded) {
  if (const auto at = scripts_.find(sha); at != scripts_.end()) {
    if (is_loaded && !std::exchange(at->second.is_loaded, true)) from_eval_.erase(at->second.used);
    return &at->second;
  }
  const absl::StatusOr<ScriptText> text = ReadScriptText(body);
  if (!text.ok()) return text.status();
  std::string error;
  const auto function = interpreter_.Compile(WithoutTailCalls(text->code), "@user_script", error);
  if (!function) return Refusal("ERR Error compiling script (new function): " + error);
  Script script = {.function = *function,
                   .flags = text->flags,
                   .is_loaded = is_loaded,
                   .refers_to_globals = RefersToGlobals(text->code)};
  if (!is_loaded) {
    if (from_eval_.size() >= kMostFromEval) ForgetOldest();
    script.used = from_eval_.emplace(from_eval_.begin(), sha);
  }
  return &scripts_.emplace(std::string(sha), script).first->second;
}

void ScriptCache::ForgetOldest() {
  const auto at = scripts_.find(from_eval_.back());
  interpreter_.Release(at->second.function);
  scripts_.erase(at);
  from_eval_.pop_back();
  ++evicted_;
}

size_t ScriptCache::BytesUsed() const {
  constexpr size_t kTextBytes = 48;  // of a SHA-1 with its allocation
  constexpr size_t kListBytes = 64 + kTextBytes;
  return scripts_.capacity() * (sizeof(std::pair<std::string, Script>) + 1) +
         scripts_.size() * kTextBytes + from_eval_.size() * kListBytes;
}

}  // namespace zsetd
