#include "tests/support/server_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/transcript/socket_peer.h"

namespace zsetd {
namespace {

constexpr Millis kUntilListening{60000};  // under a sanitizer on a busy machine
constexpr Millis kUntilEnd{60000};
constexpr Millis kBetweenLooks{2};

class Deadline {
 public:
  explicit Deadline(Millis patience) : at_(std::chrono::steady_clock::now() + patience) {}
  bool Passed() const { return std::chrono::steady_clock::now() >= at_; }

 private:
  const std::chrono::steady_clock::time_point at_;
};

bool IsFree(int port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(socket);
  return free;
}

// Tests that run in parallel start their search at different ports. These, and those of the bus of
// a cluster's nodes, 10,000 above, are below the range that the system uses for outgoing
// connections.
int FreePort(bool has_bus) {
  constexpr int kBusDistance = 10000;
  int port = 10000 + getpid() % (has_bus ? 12000 : 20000);
  while (!IsFree(port) || (has_bus && !IsFree(port + kBusDistance))) ++port;
  return port;
}

std::vector<std::string> Command(const std::string& program, int port, const std::string& folder) {
  std::vector<std::string> words = {program, "--port", std::to_string(port), "--bind", "127.0.0.1"};
  words.insert(words.end(), {"--dir", folder, "--save", "", "--appendonly", "no"});
  words.insert(words.end(), {"--enable-debug-command", "yes"});
  const char* const threads = getenv("IO_THREADS");
  if (threads != nullptr && program.ends_with("zsetd")) {
    words.insert(words.end(), {"--io-threads", threads});
  }
  return words;
}

[[noreturn]] void Become(const std::vector<std::string>& words, const std::string& log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // if the test is killed, the server is killed too
  const int output = open(log.c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  _exit(127);
}

}  // namespace

ServerProcess::ServerProcess(const std::string& program, const std::vector<std::string>& options,
                             const std::string& nodes)
    : program_(program),
      port_(
          FreePort(/*has_bus=*/std::ranges::find(options, "--cluster-enabled") != options.end())) {
  std::string folder = testing::TempDir() + "zsetd-test-XXXXXX";
  folder_ = mkdtemp(folder.data());
  if (!nodes.empty()) std::ofstream(folder_ + "/nodes.conf") << nodes;
  std::vector<std::string> words = Command(program, port_, folder_);
  words.insert(words.end(), options.begin(), options.end());
  process_ = fork();
  if (process_ == 0) Become(words, folder_ + "/log");
  if (!WaitUntilItListens()) ADD_FAILURE() << program << " does not listen; its output:\n" << Log();
}

ServerProcess::~ServerProcess() {
  if (running() && Listens()) kill(process_, SIGTERM);  // otherwise it is already ending
  std::optional<int> status = running() ? WaitUntilItEnds(kUntilEnd) : 0;
  if (!status) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (status != 0) ADD_FAILURE() << program_ << " does not end correctly; its output:\n" << Log();
  std::filesystem::remove_all(folder_);
}

bool ServerProcess::Listens() const {
  const int socket = ConnectTo(port_);
  return socket >= 0 && close(socket) == 0;
}

bool ServerProcess::WaitUntilItListens() {
  for (const Deadline deadline(kUntilListening); !deadline.Passed();) {
    if (Listens()) return true;
    if (WaitUntilItEnds(Millis(0))) {
      process_ = -1;
      return false;
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return false;
}

std::optional<int> ServerProcess::WaitUntilItEnds(Millis patience) {
  const Deadline deadline(patience);
  do {
    int status = 0;
    if (waitpid(process_, &status, WNOHANG) == process_) return status;
    std::this_thread::sleep_for(kBetweenLooks);
  } while (!deadline.Passed());
  return std::nullopt;
}

std::string ServerProcess::Log() const {
  std::stringstream text;
  text << std::ifstream(folder_ + "/log").rdbuf();
  return text.str();
}

bool IsRedis(const std::string& program) {
  return std::filesystem::path(program).filename() == "redis-server";
}

}  // namespace zsetd
