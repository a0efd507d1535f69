#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/engine/engine.h"
#include "server/engine/services/background_task.h"
#include "server/engine/services/scripting.h"
#include "server/engine/services/services.h"
#include "server/scripting/interpreter/interpreter.h"
#include "server/scripting/interpreter/run.h"
#include "server/scripting/libraries.h"
#include "server/scripting/sandbox.h"
#include "server/scripting/script_cache.h"

namespace zsetd {

// The scripts and functions of one engine. The interpreters are created with the first script or
// library, so a server without them has no cost.
class ScriptingService : public Scripting, public BackgroundTask {
 public:
  // The engine outlives this object.
  explicit ScriptingService(Engine& engine)
      : engine_(engine),
        installation_(engine.services().scripting.Install(*this)),
        task_(engine.tasks().Add(*this)) {}

  std::optional<ScriptDeclaration> DeclarationOfScript(std::string_view body) const override;
  std::optional<ScriptDeclaration> DeclarationOfSha(std::string_view sha) const override;
  std::optional<ScriptDeclaration> DeclarationOfFunction(std::string_view name) const override;
  void Eval(Call& call, std::string_view body, const ScriptArguments& arguments) override;
  void EvalSha(Call& call, std::string_view sha, const ScriptArguments& arguments) override;
  absl::StatusOr<std::string> LoadScript(std::string_view body) override;
  bool HasScript(std::string_view sha) const override;
  void FlushScripts() override;

  void CallFunction(Call& call, std::string_view name, const ScriptArguments& arguments) override;
  bool HasFunction(std::string_view name) const override;
  absl::StatusOr<std::string> LoadLibrary(std::string_view code, bool replace) override;
  absl::Status DeleteLibrary(std::string_view name) override;
  void FlushLibraries() override;
  std::vector<LibraryDescription> Libraries() const override;
  std::string DumpLibraries() const override;
  absl::Status RestoreLibraries(std::string_view dump, RestorePolicy policy) override;

  std::optional<RunningScript> Running() const override;
  absl::Status Kill(bool function) override;
  void Continue(Call& call) override;
  ScriptUsage Usage() const override;
  void ResetStats() override { evicted_scripts_ = 0; }

  // Collects the garbage that large runs left in the interpreters.
  void Tick(Micros budget) override;
  bool HasWork() const override;

 private:
  // The interpreter of scripts and its contents.
  struct ScriptEngine {
    ScriptEngine(Engine& engine, size_t& evicted_scripts)
        : interpreter(engine.host().stopwatch, engine.store().gauge().uncounted_bytes()),
          sandbox(interpreter, engine.store().rng().Next()),
          cache(interpreter, evicted_scripts) {}

    Interpreter interpreter;
    Sandbox sandbox;
    ScriptCache cache;
  };

  ScriptEngine& scripts();
  zsetd::Libraries& libraries();
  void RunScript(Call& call, const ScriptCache::Script& script, std::string_view sha,
                 const ScriptArguments& arguments);
  bool Begin(Call& call, ScriptRun::Target target);
  std::optional<Micros> FirstSliceEnd() const;
  void Settle(Call& call, Interpreter& interpreter, Interpreter::Result result);
  void ReplyWithError(Call& call, Interpreter& interpreter);
  Interpreter& InterpreterOfRun();

  Engine& engine_;
  std::unique_ptr<ScriptEngine> scripts_;
  std::unique_ptr<zsetd::Libraries> libraries_;
  size_t evicted_scripts_ = 0;  // since the last reset of the statistics
  std::unique_ptr<ScriptWorkspace> workspace_;
  std::optional<ScriptRun> run_;
  const Installation installation_;
  const Installation task_;
};

}  // namespace zsetd
