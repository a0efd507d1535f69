#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "core/util/time.h"
#include "server/engine/support/log.h"

namespace zsetd {

struct Settings;

// Functions of the surrounding program that the engine calls.
struct Host {
  // Applies settings that concern the process. May return an error, with a reason as from
  // SetValue(). Null: there is nothing to do.
  std::function<absl::Status(const Settings&)> apply;

  const Log* log = &kNoLog;  // never null; outlives the engine

  std::function<Micros()> stopwatch;   // a clock that only goes forward, for measuring
  std::function<Micros()> wall_clock;  // since the Unix epoch, for TIME and the like
  std::function<void(Micros)> sleep;   // suspends the whole server (DEBUG SLEEP)

  // Frees its argument in the background. Null: the engine frees things itself.
  std::function<void(std::shared_ptr<void>)> free_in_background;

  // The bytes of memory in use; takes some microseconds. Null: from the allocator.
  std::function<size_t()> used_bytes;

  std::string executable;   // the whole path of the program
  std::string config_file;  // the path of the configuration file; empty without one

  // The working directory of the start, to which the paths of its includes are relative.
  std::string start_directory = {};

  // The program that supervises this one, as INFO names it: "systemd", "upstart" or "no".
  std::string_view supervisor = "no";
};

}  // namespace zsetd
