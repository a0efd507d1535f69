#include "server/scripting/scripting_service.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "server/engine/call.h"
#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/scripting/lua_values.h"
#include "server/scripting/sha1_text.h"

namespace zsetd {
namespace {

constexpr Micros kSlice{2'000};  // how long a late script delays other clients
constexpr std::string_view kNoSuchScript = "NOSCRIPT No matching script. Please use EVAL.";

constexpr std::string_view kStaleScript =
    "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and "
    "'allow-stale' flag is not set on the script.";
constexpr std::string_view kWritesOnReplica =
    "READONLY Can not run script with write flag on readonly replica";

// Returns the reason why a script with these flags may not run, or an empty string. The executor
// has already refused most of these requests by their flags. The script of an EVALSHA may have been
// loaded after its request was queued, so it is checked again.
std::string ReasonNotToRun(const ScriptRun::Target& target, const Engine& engine) {
  if (engine.effects().is_muted()) return {};
  if (engine.settings().cluster_enabled && target.flags.Has(ScriptFlag::kNoCluster)) {
    return "ERR Can not run script on cluster, 'no-cluster' flag is set.";
  }
  const absl::Status stale = engine.replication().CheckStale();
  if (target.flags.is_compatible()) return std::string(ErrorLine(stale));
  if (!stale.ok() && !target.flags.Has(ScriptFlag::kAllowStale)) return std::string(kStaleScript);
  const bool writes = !target.flags.Has(ScriptFlag::kNoWrites);
  if (writes && engine.replication().IsReadOnly()) return std::string(kWritesOnReplica);
  if (writes && !engine.disk().log_error().empty()) {
    return "MISCONF Redis is configured to persist data to AOF, but it's currently unable to "
           "persist to disk. Writable scripts are blocked. Use 'no-writes' flag for read only "
           "scripts. AOF error: " +
           engine.disk().log_error();
  }
  if (writes && engine.disk().ForbidsWrites()) {
    return "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to "
           "persist to disk. Writable scripts are blocked. Use 'no-writes' flag for read only "
           "scripts.";
  }
  if (writes && target.read_only) {
    return "ERR Can not execute a script with write flag using *_ro command.";
  }
  if (const absl::Status write = engine.replication().CheckWrite(); writes && !write.ok()) {
    return std::string(ErrorLine(write));
  }
  if (writes && engine.store().LacksMemory() && !target.flags.Has(ScriptFlag::kAllowOom)) {
    return std::string(kOutOfMemory);
  }
  return {};
}

}  // namespace

ScriptingService::ScriptEngine& ScriptingService::scripts() {
  if (!scripts_) scripts_ = std::make_unique<ScriptEngine>(engine_, evicted_scripts_);
  return *scripts_;
}

zsetd::Libraries& ScriptingService::libraries() {
  if (!libraries_) {
    libraries_ = std::make_unique<zsetd::Libraries>(engine_.host().stopwatch,
                                                    engine_.store().gauge().uncounted_bytes(),
                                                    engine_.store().rng().Next());
  }
  libraries_->set_most_bytes(static_cast<size_t>(engine_.settings().script_memory_limit));
  return *libraries_;
}

// --- Declarations ---

std::optional<ScriptDeclaration> ScriptingService::DeclarationOfScript(
    std::string_view body) const {
  const absl::StatusOr<ScriptText> text = ReadScriptText(body);
  return text.ok() ? text->flags.Declaration() : std::nullopt;
}

std::optional<ScriptDeclaration> ScriptingService::DeclarationOfSha(std::string_view sha) const {
  const ScriptFlags* const flags = scripts_ ? scripts_->cache.FlagsOf(LowerCase(sha)) : nullptr;
  return flags == nullptr ? std::nullopt : flags->Declaration();
}

std::optional<ScriptDeclaration> ScriptingService::DeclarationOfFunction(
    std::string_view name) const {
  const auto* const function = libraries_ ? libraries_->Find(name) : nullptr;
  return function == nullptr ? std::nullopt : function->flags.Declaration();
}

// --- Scripts ---

void ScriptingService::Eval(Call& call, std::string_view body, const ScriptArguments& arguments) {
  const Sha1Text digits = Sha1TextOf(body);
  const std::string_view sha(digits.data(), digits.size());
  ScriptCache& cache = scripts().cache;
  const ScriptCache::Script* script = cache.Find(sha);
  if (script == nullptr) {
    const auto added = cache.Add(sha, body, /*is_loaded=*/false);
    if (!added.ok()) return call.Fail(added.status());
    script = *added;
  }
  RunScript(call, *script, sha, arguments);
}

void ScriptingService::EvalSha(Call& call, std::string_view sha, const ScriptArguments& arguments) {
  if (!scripts_) return call.Fail(kNoSuchScript);
  if (const ScriptCache::Script* const script = scripts_->cache.Find(sha)) {
    return RunScript(call, *script, sha, arguments);
  }
  const std::string lower = LowerCase(sha);
  const ScriptCache::Script* const script = scripts_->cache.Find(lower);
  if (script == nullptr) return call.Fail(kNoSuchScript);
  RunScript(call, *script, lower, arguments);
}

absl::StatusOr<std::string> ScriptingService::LoadScript(std::string_view body) {
  const Sha1Text digits = Sha1TextOf(body);
  const std::string_view sha(digits.data(), digits.size());
  const auto added = scripts().cache.Add(sha, body, /*is_loaded=*/true);
  if (!added.ok()) return added.status();
  return std::string(sha);
}

bool ScriptingService::HasScript(std::string_view sha) const {
  return scripts_ && scripts_->cache.Contains(LowerCase(sha));
}

void ScriptingService::FlushScripts() { scripts_.reset(); }

// KEYS and ARGV are globals. If a script changes their tables, other runs do not see it.
void ScriptingService::RunScript(Call& call, const ScriptCache::Script& script,
                                 std::string_view sha, const ScriptArguments& arguments) {
  ScriptEngine& engine = *scripts_;
  if (!Begin(call, {.name = std::string(sha),
                    .is_function = false,
                    .flags = script.flags,
                    .read_only = arguments.read_only})) {
    return;
  }
  engine.interpreter.set_most_bytes(static_cast<size_t>(engine_.settings().script_memory_limit));
  engine.sandbox.BeginRun();
  lua_State* const lua = engine.interpreter.run_thread();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, script.function);
  engine.sandbox.SetArguments(lua, arguments.keys, arguments.args);
  if (script.refers_to_globals) {
    engine.sandbox.PushEnvironment(lua);
  } else {
    engine.sandbox.PushSharedEnvironment(lua);
  }
  lua_pushvalue(lua, -1);
  lua_replace(lua, LUA_GLOBALSINDEX);
  lua_setfenv(lua, -2);
  Settle(call, engine.interpreter, engine.interpreter.Start(&*run_, 0, FirstSliceEnd()));
}

// --- Functions ---

void ScriptingService::CallFunction(Call& call, std::string_view name,
                                    const ScriptArguments& arguments) {
  const auto* const function = libraries_ ? libraries_->Find(name) : nullptr;
  if (function == nullptr) return call.Fail("ERR Function not found");
  if (!Begin(call, {.name = function->name,
                    .is_function = true,
                    .flags = function->flags,
                    .read_only = arguments.read_only})) {
    return;
  }
  Interpreter& interpreter = libraries().interpreter();
  libraries_->sandbox().BeginRun();
  lua_State* const lua = interpreter.run_thread();
  lua_rawgeti(lua, LUA_REGISTRYINDEX, function->callback);
  lua_getfenv(lua, -1);
  lua_replace(lua, LUA_GLOBALSINDEX);
  PushArray(lua, arguments.keys);
  PushArray(lua, arguments.args);
  Settle(call, interpreter, interpreter.Start(&*run_, 2, FirstSliceEnd()));
}

bool ScriptingService::HasFunction(std::string_view name) const {
  return libraries_ && libraries_->Find(name) != nullptr;
}

absl::StatusOr<std::string> ScriptingService::LoadLibrary(std::string_view code, bool replace) {
  return libraries().Load(code, replace);
}

absl::Status ScriptingService::DeleteLibrary(std::string_view name) {
  if (libraries_ && libraries_->Delete(name)) return absl::OkStatus();
  return Refusal("ERR Library not found");
}

void ScriptingService::FlushLibraries() { libraries_.reset(); }

std::vector<LibraryDescription> ScriptingService::Libraries() const {
  return libraries_ ? libraries_->Describe() : std::vector<LibraryDescription>();
}

std::string ScriptingService::DumpLibraries() const {
  return libraries_ ? libraries_->Dump() : std::string();
}

absl::Status ScriptingService::RestoreLibraries(std::string_view dump, RestorePolicy policy) {
  return libraries().Restore(dump, policy);
}

// --- Runs ---

// Starts the run of this call. Returns false, with an error reply, if it may not run.
bool ScriptingService::Begin(Call& call, ScriptRun::Target target) {
  if (const std::string reason = ReasonNotToRun(target, engine_); !reason.empty()) {
    call.Fail(reason);
    return false;
  }
  if (!workspace_) workspace_ = std::make_unique<ScriptWorkspace>();
  run_.emplace(engine_, call, std::move(target), *workspace_);
  return true;
}

std::optional<Micros> ScriptingService::FirstSliceEnd() const {
  const int64_t threshold = engine_.settings().busy_reply_threshold;
  constexpr int64_t kMost = int64_t{1} << 40;
  if (threshold == 0 || threshold > kMost) return std::nullopt;
  return run_->started_at() + Millis(threshold);
}

Interpreter& ScriptingService::InterpreterOfRun() {
  return run_->target().is_function ? libraries_->interpreter() : scripts_->interpreter;
}

void ScriptingService::Continue(Call& call) {
  Interpreter& interpreter = InterpreterOfRun();
  run_->OnContinued(call);
  if (run_->is_killed()) {
    lua_pushfstring(interpreter.state_of_run(), "Script killed by user with %s KILL.",
                    run_->target().is_function ? "FUNCTION" : "SCRIPT");
    return Settle(call, interpreter, Interpreter::Result::kFailed);
  }
  Settle(call, interpreter, interpreter.Resume(engine_.host().stopwatch() + kSlice));
}

void ScriptingService::Settle(Call& call, Interpreter& interpreter, Interpreter::Result result) {
  switch (result) {
    case Interpreter::Result::kSuspended:
      run_->OnSuspended(call);
      return call.Suspend();
    case Interpreter::Result::kDone:
      lua_settop(interpreter.state_of_run(), 1);
      ReplyWithValue(interpreter.state_of_run(), call, run_->replies_resp3());
      break;
    case Interpreter::Result::kFailed:
      ReplyWithError(call, interpreter);
      break;
  }
  interpreter.EndRun();
  run_.reset();
}

void ScriptingService::ReplyWithError(Call& call, Interpreter& interpreter) {
  ErrorText error = TextOfError(interpreter.state_of_run(), -1);
  if (const std::optional<ScriptPosition> position = interpreter.Position()) {
    error.line += " script: " + run_->target().name + ", on " + position->source + ":" +
                  std::to_string(position->line) + ".";
  }
  if (error.is_counted) {
    call.FailCounted(error.line);
  } else {
    call.Fail(error.line);
  }
}

std::optional<RunningScript> ScriptingService::Running() const {
  if (!run_) return std::nullopt;
  return RunningScript{.name = run_->target().name,
                       .is_function = run_->target().is_function,
                       .command = run_->command(),
                       .elapsed = run_->elapsed()};
}

absl::Status ScriptingService::Kill(bool function) {
  if (!run_) return Refusal("NOTBUSY No scripts in execution right now.");
  if (run_->session().has_written) {
    return Refusal(
        "UNKILLABLE Sorry the script already executed write commands against the dataset. You can "
        "either wait the script termination or kill the server in a hard way using the SHUTDOWN "
        "NOSAVE command.");
  }
  if (run_->target().is_function != function) return Refusal(engine_.suspended_unit().BusyError());
  run_->Kill();
  return absl::OkStatus();
}

bool ScriptingService::HasWork() const {
  return (scripts_ && scripts_->interpreter.HasGarbage()) ||
         (libraries_ && libraries_->interpreter().HasGarbage());
}

void ScriptingService::Tick(Micros budget) {
  if (!HasWork() || run_) return;
  const Micros until = engine_.host().stopwatch() + budget;
  if (scripts_) scripts_->interpreter.CollectGarbage(until);
  if (libraries_) libraries_->interpreter().CollectGarbage(until);
}

ScriptUsage ScriptingService::Usage() const {
  ScriptUsage usage;
  usage.evicted_scripts = evicted_scripts_;
  if (scripts_) {
    usage.script_vm_bytes = scripts_->interpreter.bytes();
    usage.script_bytes = scripts_->cache.BytesUsed();
    usage.scripts = scripts_->cache.size();
  }
  if (libraries_) {
    usage.function_vm_bytes = libraries_->vm_bytes();
    usage.function_bytes = libraries_->BytesUsed();
    usage.functions = libraries_->function_count();
    usage.libraries = libraries_->library_count();
  }
  return usage;
}

}  // namespace zsetd
