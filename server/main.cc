#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/hashing/keyed_hash.h"
#include "core/util/rng.h"
#include "server/cluster/bus_port.h"
#include "server/cluster/cluster_service.h"
#include "server/cluster/nodes_file.h"
#include "server/commands/all_commands.h"
#include "server/commands/diagnostics/info.h"
#include "server/engine/config/command_line.h"
#include "server/engine/config/settings_text.h"
#include "server/engine/engine.h"
#include "server/engine/state/replication_state.h"
#include "server/engine/support/allocator_stats.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/redis_version.h"
#include "server/engine/support/size_text.h"
#include "server/engine/support/split.h"
#include "server/http/http_service.h"
#include "server/net/migration/migrator.h"
#include "server/net/server.h"
#include "server/net/socket/tls_context.h"
#include "server/persistence/file/file.h"
#include "server/persistence/persistence_service.h"
#include "server/process/background.h"
#include "server/process/background_free.h"
#include "server/process/clock.h"
#include "server/process/file_descriptor_limit.h"
#include "server/process/pid_file.h"
#include "server/process/spdlog_log.h"
#include "server/process/standard_streams.h"
#include "server/process/start_checks.h"
#include "server/process/supervisor.h"
#include "server/process/system_checks.h"
#include "server/replication/replication_service.h"
#include "server/scripting/scripting_service.h"

namespace zsetd {
namespace {

// Returns the seed of the setting, or a random one. The log prints it: the same seed, and the same
// requests at the same times, reproduce a run.
uint64_t SeedFor(const Settings& settings) {
  if (settings.random_seed != 0) return static_cast<uint64_t>(settings.random_seed);
  std::random_device device;
  const uint64_t drawn = (uint64_t{device()} << 32) | device();
  return std::max<uint64_t>(drawn >> 1, 1);  // in the setting's range
}

std::string Executable() {
  std::error_code ignored;  // on an error the path is empty
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

// Checks the system's limit for a changed `maxclients`. The limit may be lower than that of the
// start, so an unchanged setting is not checked again.
absl::Status CheckMaxClients(const Settings& settings) {
  const int64_t possible = MakeRoomForClients(settings);
  if (possible < settings.maxclients) {
    return Refusal(
        "The operating system is not able to handle the specified number of clients, try with " +
        std::to_string(possible));
  }
  return absl::OkStatus();
}

// The settings that the process has applied.
struct Applied {
  std::string directory;
  int64_t max_clients = 0;
};

// Applies changed settings that concern the process as a whole.
absl::Status ApplyChanged(const Settings& settings, Applied& applied, SpdlogLog& log) {
  if (absl::Status status = CheckBusPort(settings); !status.ok()) return status;
  std::error_code error;
  if (settings.dir != applied.directory) std::filesystem::current_path(settings.dir, error);
  if (error) return Refusal(error.message());
  applied.directory = settings.dir;
  if (settings.maxclients != applied.max_clients) {
    if (absl::Status status = CheckMaxClients(settings); !status.ok()) return status;
    applied.max_clients = settings.maxclients;
  }
  log.SetLevel(settings.loglevel);
  log.SetRole(MasterIn(settings).has_value());
  return absl::OkStatus();
}

int PrintStartupError(const absl::Status& status) {
  std::fprintf(stderr, "*** zsetd " ZSETD_VERSION " cannot start ***\n%s\n",
               std::string(ErrorLine(status)).c_str());
  return EXIT_FAILURE;
}

// Reports the reason in the log too, one line for each of its lines.
int FailToStart(Log& log, const absl::Status& status) {
  for (const std::string_view line : Split(ErrorLine(status), '\n')) {
    log.Write(LogLevel::kWarning, "Cannot start: " + std::string(line));
  }
  return PrintStartupError(status);
}

// Lowers `maxclients` to the system's limit, so that a default above it does not prevent the start.
void LowerMaxClients(Settings& settings, const Log& log) {
  const int64_t possible = MakeRoomForClients(settings);
  if (possible == settings.maxclients) return;
  log.Write(LogLevel::kWarning, "Lowered maxclients to " + std::to_string(possible) + " from " +
                                    std::to_string(settings.maxclients) +
                                    ": the limit of open files (ulimit -n) allows no more");
  settings.maxclients = possible;
}

// File names are relative to this directory, and tools query its full path.
absl::Status EnterDirectory(Settings& settings) {
  std::error_code error;
  std::filesystem::current_path(settings.dir, error);
  if (!error) settings.dir = std::filesystem::current_path(error);
  if (error) return Refusal("Can't chdir to '" + settings.dir + "': " + error.message());
  return absl::OkStatus();
}

// Ends the process, because an incomplete request can neither be finished nor undone. Must not
// allocate.
[[noreturn]] void EndWithoutMemory() {
  std::fputs(
      "*** zsetd is out of memory and has to stop. "
      "Set maxmemory below the memory that is available ***\n",
      stderr);
  std::abort();
}

// Refuses settings with which no server could start, before a file is written.
absl::Status CheckSettings(const Settings& settings) {
  if (absl::Status status = CheckClusterSettings(settings); !status.ok()) return status;
  return CheckListening(settings,
                        settings.cluster_enabled ? std::optional(BusPort(settings)) : std::nullopt);
}

// Logs warnings about accepted settings.
void WarnOfSettings(const Settings& settings, const Supervisor& supervisor, const Log& log) {
  if (!settings.save.Any() && !settings.appendonly) {
    log.Write(
        LogLevel::kWarning,
        "There are neither save points nor an append-only log. When the server ends, changes since "
        "the last SAVE or BGSAVE are lost, unless SHUTDOWN SAVE ends it");
  }
  if (supervisor.IsMissing()) {
    log.Write(LogLevel::kWarning, "supervised " + std::string(ChoiceName(settings.supervised)) +
                                      ": the environment does not contain such a supervisor");
  }
  std::string names;
  for (const auto& [name, value] : settings.without_effect) {
    names += (names.empty() ? "" : ", ") + name;
  }
  if (!names.empty()) log.Write(LogLevel::kWarning, "Settings that have no effect here: " + names);
}

// Returns a text such as "snapshots, a log, appendfsync everysec, in /var/lib/zsetd".
std::string DurabilityText(const Settings& settings) {
  std::string text = settings.save.Any() ? "snapshots" : "";
  if (settings.appendonly) {
    if (!text.empty()) text += ", ";
    text += "a log, appendfsync " + std::string(ChoiceName(settings.appendfsync));
  }
  return text.empty() ? "none" : text + ", in " + settings.dir;
}

// Logs a summary of the configuration as the first lines.
void ReportSettings(const Settings& settings, const std::string& config_file, const Log& log) {
  log.Write(LogLevel::kNotice, "Starting zsetd " ZSETD_VERSION ", configured by " +
                                   (config_file.empty() ? "its command line" : config_file));
  std::error_code ignored;
  if (std::filesystem::exists(settings.rewrite_file, ignored)) {
    log.Write(LogLevel::kNotice,
              "Settings that CONFIG REWRITE has saved have priority: " + settings.rewrite_file);
  }
  const std::string limit =
      settings.maxmemory == 0 ? "no limit" : SizeText(static_cast<uint64_t>(settings.maxmemory));
  log.Write(LogLevel::kNotice, "Memory: " + limit + ", policy " +
                                   std::string(ChoiceName(settings.maxmemory_policy)) +
                                   ". Durability: " + DurabilityText(settings));
  for (const std::string& warning : SystemWarnings(settings)) {
    log.Write(LogLevel::kWarning, warning);
  }
}

// Applies process-wide settings. Does not listen yet.
absl::Status Prepare(Settings& settings, const std::string& config_file,
                     const Supervisor& supervisor, Background& background, SpdlogLog& log) {
  std::set_new_handler(EndWithoutMemory);
  std::signal(SIGPIPE, SIG_IGN);  // the reader of the log may exit
  std::signal(SIGXFSZ, SIG_IGN);  // a write past a file's limit fails, like on a full disk
  log.SetRole(MasterIn(settings).has_value());
  if (absl::Status status = EnterDirectory(settings); !status.ok()) return status;
  if (settings.daemonize && !supervisor.Exists()) {
    if (absl::Status status = background.Enter(); !status.ok()) return status;
  }
  if (absl::Status status = log.Open(settings); !status.ok()) return status;
  ReportSettings(settings, config_file, log);
  LowerMaxClients(settings, log);
  WarnOfSettings(settings, supervisor, log);
  return absl::OkStatus();
}

// If the file cannot be written, the server starts without it.
void WritePidFile(const Settings& settings, PidFile& file, const Log& log) {
  constexpr std::string_view kOfDaemons = "/var/run/zsetd.pid";
  const std::string path(settings.pidfile.empty() && settings.daemonize ? kOfDaemons
                                                                        : settings.pidfile);
  if (path.empty()) return;
  const absl::Status status = file.Write(path);
  if (!status.ok()) log.Write(LogLevel::kWarning, ErrorLine(status));
}

// Logs Redis's texts, because scripts and test suites wait for them. For a Unix socket, also logs
// the text of the releases before 7.2.
void ReportReady(const Settings& settings, Supervisor& supervisor, Background& background,
                 const Log& log) {
  log.Write(LogLevel::kNotice, "zsetd " ZSETD_VERSION ", PID: " + std::to_string(getpid()) +
                                   ", port " + std::to_string(settings.port) +
                                   ": Server initialized");
  if (settings.metrics_port != 0) {
    log.Write(LogLevel::kNotice, "Serving metrics and a page at port " +
                                     std::to_string(settings.metrics_port) + " of " +
                                     settings.metrics_bind);
  }
  if (settings.port != 0) log.Write(LogLevel::kNotice, "Ready to accept connections tcp");
  if (settings.tls_port != 0) log.Write(LogLevel::kNotice, "Ready to accept connections tls");
  if (!settings.unixsocket.empty()) {
    log.Write(LogLevel::kNotice, "Ready to accept connections unix");
    log.Write(LogLevel::kNotice,
              "The server is now ready to accept connections at " + settings.unixsocket);
  }
  supervisor.ReportReady();
  background.ReportReady();
}

// The functions of the program that the engine calls.
Host HostFor(const CommandLine& line, const Settings& settings, SpdlogLog& log,
             const Supervisor& supervisor, BackgroundFree& background_free) {
  return {
      .apply = [&log, applied = Applied{settings.dir, settings.maxclients}](
                   const Settings& changed) mutable { return ApplyChanged(changed, applied, log); },
      .log = &log,
      .stopwatch = MonotonicNow,
      .wall_clock = UnixNowExactly,
      .sleep = [](Micros time) { std::this_thread::sleep_for(time); },
      .free_in_background =
          [&background_free](std::shared_ptr<void> garbage) {
            background_free.FreeLater(std::move(garbage));
          },
      .executable = Executable(),
      .config_file = line.config_file,
      .start_directory = line.directory,
      .supervisor = supervisor.Name(),
  };
}

// Returns the source from which metrics take the figures of INFO.
InfoSource InfoOf(Engine& engine) {
  InfoSource source;
  for (const InfoSection& section : InfoSections()) source.sections.emplace_back(section.name);
  source.text = [&engine](std::string_view section) { return InfoText(engine, Args(&section, 1)); };
  return source;
}

int Serve(const CommandLine& line) {
  Settings settings = line.settings;
  SpdlogLog log;
  Supervisor supervisor(settings.supervised, log);
  Background background;
  if (const absl::Status status = Prepare(settings, line.config_file, supervisor, background, log);
      !status.ok()) {
    return PrintStartupError(status);
  }
  if (const absl::Status status = CheckSettings(settings); !status.ok()) {
    return FailToStart(log, status);
  }
  const uint64_t seed = SeedFor(settings);
  SeedKeyedHash(Rng(seed).Next());
  log.Write(LogLevel::kNotice,
            "Random seed: " + std::to_string(seed) + " (set random-seed to reproduce this run)");
  boost::asio::io_context io(1);
  BackgroundFree background_free;
  if (const absl::Status status = background_free.Start(); !status.ok()) {
    return FailToStart(log, status);
  }
  Engine engine(settings, AllCommands(), seed, UnixNow(),
                HostFor(line, settings, log, supervisor, background_free));
  std::optional<ScriptingService> scripting;
  if (settings.scripting) scripting.emplace(engine);
  Migrator migrator(engine, io);
  if (const absl::Status status = engine.Prepare(); !status.ok()) return FailToStart(log, status);
  const auto log_signal = std::make_shared<const WakeSignal>();
  PersistenceService persistence(engine, SystemFiles(), log, [log_signal] { log_signal->Send(); });
  Server front(io, engine, log, *log_signal);
  NodesFile nodes_file(settings.cluster_config_file);
  ClusterService cluster(engine, nodes_file, front.connector());
  if (const absl::Status status = cluster.Load(); !status.ok()) return FailToStart(log, status);
  ReplicationService replication(engine, persistence, SystemFiles(), front.connector(), log,
                                 [&front](Step step) { front.Post(std::move(step)); });
  HttpService http(engine, InfoOf(engine), [&front](Step step) { front.Post(std::move(step)); });
  if (const absl::Status status = http.Start(settings); !status.ok()) {
    return FailToStart(log, status);
  }
  if (const absl::Status status = front.Listen(); !status.ok()) return FailToStart(log, status);
  if (const absl::Status status = cluster.Listen(front); !status.ok()) {
    return FailToStart(log, status);
  }
  // The lock first: a second server in the same directory must not replace the first one's file.
  absl::Status begun = persistence.LockDirectory();
  if (!begun.ok()) return FailToStart(log, begun);
  PidFile pid_file;
  WritePidFile(settings, pid_file, log);
  absl::Status loaded;
  begun = persistence.StartInBackground([&](const absl::Status& status) {
    if (!status.ok() && front.is_stopping()) return;  // the shutdown interrupted the load
    loaded = status;
    if (status.ok()) replication.OnLoaded();
    if (status.ok()) loaded = cluster.OnLoaded();
    if (loaded.ok()) return ReportReady(settings, supervisor, background, log);
    front.AskToStop();
    front.AskToStop();  // the second call stops immediately
  });
  if (begun.ok()) begun = front.Run();
  if (begun.ok()) begun = loaded;
  if (!begun.ok()) return FailToStart(log, begun);
  persistence.SaveTheRest();
  supervisor.ReportStopping();
  log.Write(LogLevel::kNotice, "Bye");
  return front.was_cut_short() ? EXIT_FAILURE : EXIT_SUCCESS;
}

// Returns a line in the format of redis-server's version line, then the name and the version of
// zsetd. Programs that start a redis-server parse the text: pytest-redis takes its first number, so
// that the version of Redis must come first.
std::string VersionText() {
  return "Redis server v=" + std::string(kRedisVersion) +
         " sha=00000000:0 malloc=" + AllocatorName() +
         " bits=64 build=zsetd-" ZSETD_VERSION "\nzsetd " ZSETD_VERSION ", compatible with Redis " +
         std::string(kRedisVersion) + "\n";
}

// Performs the further checks of a start: the working directory, addresses and ports, directories
// of files, users, renamed commands, and TLS files.
absl::Status CheckTogether(Settings settings) {
  if (absl::Status status = EnterDirectory(settings); !status.ok()) return status;
  if (absl::Status status = CheckPaths(settings); !status.ok()) return status;
  if (absl::Status status = CheckSettings(settings); !status.ok()) return status;
  Engine engine(settings, AllCommands(), 1, UnixNow(), {.stopwatch = MonotonicNow});
  if (absl::Status status = engine.Prepare(); !status.ok()) return status;
  const bool uses_tls = settings.tls_port != 0 || settings.tls_replication || settings.tls_cluster;
  const absl::Status client_files = uses_tls ? CheckTlsClientFiles(settings) : absl::OkStatus();
  if (!client_files.ok()) return client_files;
  TlsContext ignored;
  const bool accepts_tls = settings.tls_port != 0 || settings.tls_cluster;
  return accepts_tls ? MakeTlsContext(settings, ignored) : CheckTls(settings);
}

int CheckConfig(const CommandLine& line, absl::Status status) {
  std::fputs(ConfigReport(line).c_str(), stdout);
  if (status.ok()) status = CheckTogether(line.settings);
  if (status.ok()) {
    std::puts("zsetd can start with this configuration.");
    return EXIT_SUCCESS;
  }
  std::printf("refused:\n%s\nzsetd cannot start with this configuration.\n",
              std::string(ErrorLine(status)).c_str());
  return EXIT_FAILURE;
}

int Print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  return EXIT_SUCCESS;
}

int Run(Args words) {
  using Task = CommandLine::Task;
  CommandLine line;
  const absl::Status status = ReadCommandLine(words, line);
  if (line.task == Task::kCheckConfig) return CheckConfig(line, status);
  if (!status.ok()) {
    PrintStartupError(status);
    std::fputs("zsetd --help all lists the settings. zsetd --check-config FILE checks a file.\n",
               stderr);
    return EXIT_FAILURE;
  }
  switch (line.task) {
    case Task::kHelp:
      return Print(HelpText());
    case Task::kHelpAll:
      return Print(HelpAllText());
    case Task::kVersion:
      return Print(VersionText());
    case Task::kListSettings:
      return Print(SettingsListing());
    default:
      return Serve(line);
  }
}

}  // namespace
}  // namespace zsetd

int main(int argc, char** argv) {
  std::signal(SIGHUP, SIG_IGN);  // logrotate may send it before the server handles it
  zsetd::OpenMissingStreams();
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  return zsetd::Run(words);
}
