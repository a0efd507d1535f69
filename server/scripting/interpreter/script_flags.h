#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "server/engine/services/scripting.h"

namespace zsetd {

// The flags of a script, from its first line or from the registration of a function.
enum class ScriptFlag : uint8_t {
  kNoWrites,            // it does not write, so it may be called by EVAL_RO and FCALL_RO
  kAllowOom,            // it may run while memory is short
  kAllowStale,          // it may run on a replica that has lost its master
  kNoCluster,           // it does not run in a cluster
  kAllowCrossSlotKeys,  // its keys may be in several slots
};

class ScriptFlags {
 public:
  // Returns nullopt if no flag has this name.
  static std::optional<ScriptFlag> Find(std::string_view name);

  void Add(ScriptFlag flag) { bits_ |= Bit(flag); }
  bool Has(ScriptFlag flag) const { return (bits_ & Bit(flag)) != 0; }
  std::vector<std::string_view> Names() const;

  // The flags of a script without a shebang line. Redis's rules from the time before flags apply:
  // the script may write, and each command that needs memory may be refused separately.
  static ScriptFlags Compatible() {
    ScriptFlags flags;
    flags.is_compatible_ = true;
    return flags;
  }
  bool is_compatible() const { return is_compatible_; }

  // The properties that the flags declare; nullopt for a script without flags of its own.
  std::optional<ScriptDeclaration> Declaration() const;

 private:
  static uint8_t Bit(ScriptFlag flag) { return uint8_t(1u << static_cast<unsigned>(flag)); }

  uint8_t bits_ = 0;
  bool is_compatible_ = false;
};

// The first line of a script's text, "#!lua flags=no-writes", or of a library's text, "#!lua
// name=lib".
struct Shebang {
  std::string engine;                // "lua"
  std::vector<std::string> options;  // "flags=no-writes"
  std::string_view rest;             // the text from the end of that line on
};

// Reads the line. Its words may be quoted, as in a configuration file. Returns nullopt if the line
// or a quoted word does not end. `text` begins with "#!".
std::optional<Shebang> ReadShebang(std::string_view text);

// The flags of a script, with or without a shebang line, and the code after that line. A refusal
// contains the whole error line.
struct ScriptText {
  ScriptFlags flags;
  std::string_view code;
};
absl::StatusOr<ScriptText> ReadScriptText(std::string_view body);

}  // namespace zsetd
