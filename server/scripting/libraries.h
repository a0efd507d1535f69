#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/util/time.h"
#include "server/engine/services/scripting.h"
#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/interpreter/script_flags.h"
#include "server/scripting/sandbox.h"

namespace zsetd {

// The libraries of functions (FUNCTION LOAD), in an interpreter of their own. A library is loaded
// completely or not at all. The old library is only deleted after its replacement has been loaded.
//
// Invariant: each function belongs to one library. No two functions have the same name, ignoring
// case.
class Libraries {
 public:
  struct Function {
    std::string name;
    LuaReference callback;
    ScriptFlags flags;
    std::optional<std::string> description;
  };

  // The interpreter receives `stopwatch` and `allocated_bytes`; `seed` is the seed of math.random.
  Libraries(std::function<Micros()> stopwatch, size_t& allocated_bytes, uint64_t seed);
  ~Libraries();

  // Runs the code, which registers functions, for at most half a second. Returns the library's name
  // or a refusal.
  absl::StatusOr<std::string> Load(std::string_view code, bool replace);
  bool Delete(std::string_view name);  // false if it does not exist

  // Returns the function of this name, ignoring case, or null.
  const Function* Find(std::string_view name) const;

  std::vector<LibraryDescription> Describe() const;
  std::string Dump() const;
  absl::Status Restore(std::string_view dump, RestorePolicy policy);

  Interpreter& interpreter() { return interpreter_; }
  const Interpreter& interpreter() const { return interpreter_; }
  Sandbox& sandbox() { return sandbox_; }
  size_t function_count() const { return functions_.size(); }
  size_t library_count() const { return libraries_.size(); }
  size_t BytesUsed() const;
  size_t vm_bytes() const { return interpreter_.bytes(); }
  void set_most_bytes(size_t bytes) { interpreter_.set_most_bytes(bytes); }

 private:
  struct Library {
    std::string name;
    std::string code;
    std::map<std::string, Function, std::less<>> functions;  // by name in lower case
  };
  using Map = std::map<std::string, std::unique_ptr<Library>, std::less<>>;

  struct Names {
    std::set<std::string> libraries;
    std::set<std::string> functions;  // in lower case
  };

  static int RegisterFunction(lua_State* lua);
  int Register(lua_State* lua);
  std::optional<std::string> ReadRegistration(lua_State* lua, std::string& name,
                                              Function& function);
  std::optional<std::string> ReadNamedArguments(lua_State* lua, std::string& name,
                                                Function& function);
  std::optional<std::string> ReadFlags(lua_State* lua, ScriptFlags& flags);
  absl::StatusOr<std::unique_ptr<Library>> Build(std::string_view code);
  absl::Status Run(LuaReference chunk);
  absl::Status CheckNames(const Library& library, bool replace) const;
  static absl::Status AddNames(const Library& library, Names& names);
  void Insert(std::unique_ptr<Library> library);
  void Drop(Library& library);

  std::function<Micros()> stopwatch_;
  Interpreter interpreter_;
  Sandbox sandbox_;
  Map libraries_;

  struct Owned {
    const Library* owner;
    const Function* function;
  };
  std::map<std::string, Owned, std::less<>> functions_;  // by name in lower case
  Library* loading_ = nullptr;                           // not null while a library is loaded
};

}  // namespace zsetd
