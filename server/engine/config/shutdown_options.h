#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace zsetd {

// How the server ends: the options of SHUTDOWN, and the values of shutdown-on-sigterm and
// shutdown-on-sigint.
struct ShutdownOptions {
  bool save = false;    // a snapshot is saved even without save points
  bool nosave = false;  // no snapshot is saved
  bool now = false;     // replicas are not waited for
  bool force = false;   // an error does not prevent the end

  // The setting's text: the options as words, or "default".
  std::string Text() const;

  // Reads the setting's text. Nothing changes if it is invalid; the reason is Redis's.
  absl::Status Read(std::string_view words);

  // Adds the option with this name, in any case. False if there is none.
  bool Add(std::string_view name);

  bool Contradicts() const { return save && nosave; }

  bool operator==(const ShutdownOptions&) const = default;
};

}  // namespace zsetd
