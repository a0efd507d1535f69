#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/util/time.h"
#include "protocol/resp/args.h"

namespace zsetd {

class Call;

// The arguments of a call of a script or a function.
struct ScriptArguments {
  Args keys;
  Args args;
  bool read_only = false;  // called by EVAL_RO, EVALSHA_RO or FCALL_RO
};

// The flags by which a script or a function declares what it does.
struct ScriptDeclaration {
  bool may_write = true;      // no flag no-writes
  bool takes_memory = true;   // neither no-writes nor allow-oom
  bool may_be_stale = false;  // allow-stale
};

// The script or the function that is suspended.
struct RunningScript {
  std::string name;  // SHA-1 of a script, name of a function
  bool is_function = false;
  std::vector<std::string> command;  // the request that called it
  Micros elapsed{0};
};

// The memory of scripts and functions in bytes, and their number.
struct ScriptUsage {
  size_t script_vm_bytes = 0;    // the interpreter of EVAL, with all that it keeps
  size_t function_vm_bytes = 0;  // that of functions
  size_t script_bytes = 0;       // of the cache, outside the interpreter
  size_t function_bytes = 0;     // of libraries, outside the interpreter
  size_t scripts = 0;
  size_t functions = 0;
  size_t libraries = 0;
  size_t evicted_scripts = 0;  // of EVAL, dropped because there were too many
};

// A library as FUNCTION LIST describes it.
struct LibraryDescription {
  struct Function {
    std::string name;
    std::optional<std::string> description;
    std::vector<std::string_view> flags;  // "no-writes", ...
  };
  std::string name;
  std::string code;
  std::vector<Function> functions;  // by name
};

enum class RestorePolicy { kAppend, kReplace, kFlush };

// Runs scripts and functions: the interface for the commands and the engine, implemented by
// server/scripting. A refusal is the whole error line; nothing has changed then.
//
// At most one script runs at a time. One that takes longer than busy-reply-threshold is suspended:
// the call's client is marked so, and the engine continues it slice by slice with Continue().
class Scripting {
 public:
  virtual ~Scripting() = default;

  // OK, or the error of all commands that run code, if the setting `scripting` is no. Then Eval(),
  // EvalSha(), CallFunction() and Continue() must not be called, and there are no libraries.
  virtual absl::Status Available() const { return absl::OkStatus(); }

  // The declaration of a script by its text or its SHA-1, or of a function; nullopt if it is
  // unknown, or declares nothing, as a script without a first line of flags.
  virtual std::optional<ScriptDeclaration> DeclarationOfScript(std::string_view body) const = 0;
  virtual std::optional<ScriptDeclaration> DeclarationOfSha(std::string_view sha) const = 0;
  virtual std::optional<ScriptDeclaration> DeclarationOfFunction(std::string_view name) const = 0;

  // EVAL and EVALSHA. They reply, or suspend the call.
  virtual void Eval(Call& call, std::string_view body, const ScriptArguments& arguments) = 0;
  virtual void EvalSha(Call& call, std::string_view sha, const ScriptArguments& arguments) = 0;

  // Returns the SHA-1 by which the script is known from now on.
  virtual absl::StatusOr<std::string> LoadScript(std::string_view body) = 0;
  virtual bool HasScript(std::string_view sha) const = 0;
  virtual void FlushScripts() = 0;

  // FCALL.
  virtual void CallFunction(Call& call, std::string_view name,
                            const ScriptArguments& arguments) = 0;
  virtual bool HasFunction(std::string_view name) const = 0;

  // Returns the library's name.
  virtual absl::StatusOr<std::string> LoadLibrary(std::string_view code, bool replace) = 0;
  virtual absl::Status DeleteLibrary(std::string_view name) = 0;
  virtual void FlushLibraries() = 0;
  virtual std::vector<LibraryDescription> Libraries() const = 0;

  // The code of all libraries as Redis's snapshots have it, and back. All or nothing is restored.
  virtual std::string DumpLibraries() const = 0;
  virtual absl::Status RestoreLibraries(std::string_view dump, RestorePolicy policy) = 0;

  // The one that is suspended.
  virtual std::optional<RunningScript> Running() const = 0;

  // Ends the suspended script or function with an error at its next slice. Refused if none of that
  // kind is suspended, or if it has written.
  virtual absl::Status Kill(bool function) = 0;

  // Runs the suspended script for another slice; `call` is the one that it began with, of the same
  // client or of one that took its place. Replies, or suspends the call again.
  virtual void Continue(Call& call) = 0;

  virtual ScriptUsage Usage() const = 0;
  virtual void ResetStats() = 0;  // CONFIG RESETSTAT
};

}  // namespace zsetd
