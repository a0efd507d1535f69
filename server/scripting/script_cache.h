#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/interpreter/script_flags.h"

namespace zsetd {

// The compiled scripts by the SHA-1 of their text. At most 500 scripts from EVAL are kept, and the
// least recently used one is removed first: programs that put their arguments into the text would
// fill the memory. Scripts of SCRIPT LOAD stay until SCRIPT FLUSH. Redis does so since version 7.4.
class ScriptCache {
 public:
  static constexpr size_t kMostFromEval = 500;

  struct Script {
    LuaReference function;
    ScriptFlags flags;
    bool is_loaded = false;          // by SCRIPT LOAD
    bool refers_to_globals = false;  // the code may use the table of globals as a value

    // The position in `from_eval_`. Not valid for a loaded script.
    std::list<std::string>::iterator used = {};
  };

  // Both outlive this object. `evicted` counts the removed scripts.
  ScriptCache(Interpreter& interpreter, size_t& evicted)
      : interpreter_(interpreter), evicted_(evicted) {}

  // Returns the script of this SHA-1, in lower case, or null. Counts as a use. Valid until the next
  // call.
  const Script* Find(std::string_view sha);
  bool Contains(std::string_view sha) const { return scripts_.contains(sha); }

  // Returns the flags of a script, or null. Does not count as a use.
  const ScriptFlags* FlagsOf(std::string_view sha) const;

  // Compiles a new script. Marks an existing script as loaded if `is_loaded` is set.
  absl::StatusOr<const Script*> Add(std::string_view sha, std::string_view body, bool is_loaded);

  size_t size() const { return scripts_.size(); }
  size_t BytesUsed() const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view sha) const { return std::hash<std::string_view>()(sha); }
  };

  void ForgetOldest();

  Interpreter& interpreter_;
  absl::flat_hash_map<std::string, Script, Hash, std::equal_to<>> scripts_;
  std::list<std::string> from_eval_;  // the SHA-1s, the most recently used first
  size_t& evicted_;
};

}  // namespace zsetd
