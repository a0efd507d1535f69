#include "bench/load/generator.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace zsetd {
namespace {

constexpr std::chrono::seconds kPatience{120};  // without any reply; then the run fails

timespec ToTimespec(Clock::duration time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
}

size_t CeilDivide(size_t a, size_t b) { return (a + b - 1) / b; }

}  // namespace

Generator::Generator(const Options& options, Step step)
    : options_(options),
      step_(std::move(step)),
      batches_(CeilDivide(options.requests, step_.requests() * options.steps)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  // The kernel may delay a wake-up by this number of nanoseconds; the default is 50,000.
  ::prctl(PR_SET_TIMERSLACK, 1);
}

Generator::~Generator() { ::close(epoll_); }

absl::Status Generator::Connect() {
  for (size_t i = 0; i < options_.connections + options_.listeners; ++i) {
    absl::StatusOr<Socket> socket = Socket::ConnectTo(options_.port);
    absl::Status status = socket.ok() ? Watch(socket->descriptor(), i) : socket.status();
    if (status.ok() && i < options_.connections) {
      connections_.emplace_back(*std::move(socket));
    } else if (status.ok()) {
      status = listeners_.emplace_back(*std::move(socket)).Subscribe(options_.channel);
    }
    if (!status.ok()) return status;
  }
  for (Connection& connection : connections_) idle_.push_back(&connection);
  return absl::OkStatus();
}

absl::Status Generator::Watch(int descriptor, size_t number) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = number}};
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, "epoll_ctl");
}

absl::StatusOr<Results> Generator::Run() {
  const double batch_requests = static_cast<double>(step_.requests() * options_.steps);
  const Schedule schedule(options_.rate / batch_requests, Clock::now());
  while (sent_batches_ < batches_ || idle_.size() < connections_.size()) {
    absl::Status status = SendWhatIsDue(schedule);
    if (status.ok()) status = ReadWhatArrives(schedule);
    if (!status.ok()) return status;
  }
  return std::move(results_);
}

absl::Status Generator::SendWhatIsDue(const Schedule& schedule) {
  while (!idle_.empty() && sent_batches_ < batches_) {
    const TimePoint now = Clock::now();
    const TimePoint due = schedule.DueAt(sent_batches_, now);
    if (due > now) break;
    batch_.clear();
    for (size_t i = 0; i < options_.steps; ++i) step_.AppendTo(batch_);
    Connection& connection = *idle_.front();
    idle_.pop_front();
    ++sent_batches_;
    const absl::Status status = connection.Send(batch_, step_.requests() * options_.steps, due);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Generator::ReadWhatArrives(const Schedule& schedule) {
  Clock::duration patience = kPatience;
  if (!idle_.empty() && sent_batches_ < batches_) {
    const TimePoint now = Clock::now();
    patience = std::max(schedule.DueAt(sent_batches_, now) - now, Clock::duration::zero());
  }
  std::array<epoll_event, 64> events;
  const timespec timeout = ToTimespec(patience);
  const int count = ::epoll_pwait2(epoll_, events.data(), events.size(), &timeout, nullptr);
  if (count < 0 && errno != EINTR) return absl::ErrnoToStatus(errno, "epoll_pwait2");
  if (count == 0 && patience == kPatience) return absl::UnavailableError("the server is silent");
  for (int i = 0; i < count; ++i) {
    const absl::Status status = OnReadable(events[i].data.u64);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Generator::OnReadable(size_t number) {
  if (number >= connections_.size()) return listeners_[number - connections_.size()].OnReadable();
  Connection& connection = connections_[number];
  const bool was_idle = connection.idle();
  const absl::Status status = connection.OnReadable(results_);
  if (connection.idle() && !was_idle) idle_.push_back(&connection);
  return status;
}

}  // namespace zsetd
