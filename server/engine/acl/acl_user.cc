#include "server/engine/acl/acl_user.h"

#include <algorithm>
#include <utility>

#include "server/engine/support/ascii_case.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/password_hash.h"
#include "server/engine/support/split.h"

namespace zsetd {
namespace {

constexpr std::string_view kNotAHash =
    "The password hash must be exactly 64 characters and contain only lowercase hexadecimal "
    "characters";
constexpr std::string_view kNoSuchPassword =
    "The password you are trying to remove from the user does not exist";

}  // namespace

User::User(std::string name, const CommandTable& commands, bool all_channels)
    : name_(std::move(name)), commands_(&commands), root_(commands) {
  if (all_channels) (void)root_.Apply("allchannels");
}

absl::Status User::Apply(std::string_view modifier, bool all_channels) {
  absl::Status status;
  if (modifier.empty() || ApplyFlag(modifier, all_channels)) {
    // done
  } else if (std::string_view("><#!").find(modifier.front()) != std::string_view::npos) {
    status = ApplyPassword(modifier);
  } else if (modifier.starts_with('(') && modifier.ends_with(')')) {
    status = AddSelector(modifier.substr(1, modifier.size() - 2), all_channels);
  } else {
    status = root_.Apply(modifier);
  }
  may_do_all_ = root_.AllowsAll() || std::ranges::any_of(selectors_, &AclSelector::AllowsAll);
  return status;
}

// False if it is not a modifier that consists of a keyword alone.
bool User::ApplyFlag(std::string_view modifier, bool all_channels) {
  const auto is = [&](std::string_view word) { return EqualsIgnoringCase(modifier, word); };
  if (is("on") || is("off")) {
    enabled_ = is("on");
  } else if (is("nopass") || is("resetpass")) {
    any_password_ = is("nopass");
    password_hashes_.clear();
  } else if (is("skip-sanitize-payload") || is("sanitize-payload")) {
    skips_sanitizing_ = is("skip-sanitize-payload");
  } else if (is("clearselectors")) {
    selectors_.clear();
  } else if (is("reset")) {
    Reset(all_channels);
  } else {
    return false;
  }
  return true;
}

void User::Reset(bool all_channels) { *this = User(name_, *commands_, all_channels); }

absl::Status User::ApplyPassword(std::string_view modifier) {
  const std::string_view given = modifier.substr(1);
  const bool is_hash = modifier.front() == '#' || modifier.front() == '!';
  if (is_hash && !IsPasswordHash(given)) return Refusal(kNotAHash);
  const std::string hash = is_hash ? std::string(given) : HashPassword(given);
  const bool adds = modifier.front() == '>' || modifier.front() == '#';
  return adds ? AddPassword(hash) : RemovePassword(hash);
}

absl::Status User::AddPassword(std::string_view hash) {
  any_password_ = false;
  if (std::ranges::count(password_hashes_, hash) == 0) password_hashes_.emplace_back(hash);
  return absl::OkStatus();
}

absl::Status User::RemovePassword(std::string_view hash) {
  return std::erase(password_hashes_, hash) > 0 ? absl::OkStatus() : Refusal(kNoSuchPassword);
}

// A rule that ends in a parenthesis would, once written, end the selector before its time.
absl::Status User::AddSelector(std::string_view text, bool all_channels) {
  AclSelector selector(*commands_);
  if (all_channels) (void)selector.Apply("allchannels");
  for (const std::string_view modifier : Split(text, ' ')) {
    if (modifier.empty()) continue;
    if (modifier.ends_with(')')) return Refusal("Syntax error");
    const absl::Status status = selector.Apply(modifier);
    if (!status.ok()) return status;
  }
  selectors_.push_back(std::move(selector));
  return absl::OkStatus();
}

// Compares every hash, so that the time does not depend on which one matches.
bool User::Admits(std::string_view password) const {
  const std::string hash = HashPassword(password);
  bool known = false;
  for (const std::string& each : password_hashes_) known |= EqualsInConstantTime(each, hash);
  return enabled_ && (any_password_ || known);
}

std::vector<const AclSelector*> User::AllSelectors() const {
  std::vector<const AclSelector*> all = {&root_};
  for (const AclSelector& selector : selectors_) all.push_back(&selector);
  return all;
}

std::optional<Denial> User::Check(const Command& command, Args argv) const {
  Denial closest;
  for (const AclSelector* selector : AllSelectors()) {
    const std::optional<Denial> denial = selector->Check(command, argv);
    if (!denial) return std::nullopt;
    const bool same = denial->reason == closest.reason && denial->position > closest.position;
    if (denial->reason > closest.reason || same) closest = *denial;
  }
  return closest;
}

bool User::MayReadAllKeysIn(const Command& command, Args argv) const {
  return std::ranges::any_of(AllSelectors(), [&](const AclSelector* selector) {
    return selector->ReadsAllKeys() && !selector->Check(command, argv);
  });
}

std::vector<std::string_view> User::Flags() const {
  std::vector<std::string_view> flags = {enabled_ ? "on" : "off"};
  if (any_password_) flags.push_back("nopass");
  flags.push_back(skips_sanitizing_ ? "skip-sanitize-payload" : "sanitize-payload");
  return flags;
}

std::string User::Text() const {
  std::string text = "user " + name_;
  for (const std::string_view flag : Flags()) text += " " + std::string(flag);
  for (const std::string& hash : password_hashes_) text += " #" + hash;
  text += " " + root_.Text();
  for (const AclSelector& selector : selectors_) text += " (" + selector.Text() + ")";
  return text;
}

}  // namespace zsetd
