#include "server/engine/acl/users.h"

#include <cassert>
#include <utility>

#include "server/engine/support/errors.h"

namespace zsetd {
namespace {

constexpr std::string_view kDefault = "default";
constexpr std::string_view kAllowAll[] = {"on", "nopass", "~*", "&*", "+@all"};

}  // namespace

Users::Users(const CommandTable& commands) : commands_(commands) {
  User user{std::string(kDefault), commands_, /*all_channels=*/false};
  for (const std::string_view modifier : kAllowAll) (void)user.Apply(modifier, false);
  default_ =
      by_name_.emplace(kDefault, std::make_unique<User>(std::move(user))).first->second.get();
}

const User* Users::Find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second.get();
}

const User* Users::Authenticate(std::string_view name, std::string_view password) const {
  const User* user = Find(name);
  const bool admitted = (user == nullptr ? *default_ : *user).Admits(password);
  return admitted ? user : nullptr;
}

absl::Status Users::Draft(std::string_view name, Args modifiers, bool all_channels,
                          std::unique_ptr<User>& draft) const {
  if (HasSpaces(name)) return Refusal("ERR Usernames can't contain spaces or null characters");
  if (name.empty()) return Refusal("ERR Usernames can't be empty");
  std::vector<std::string> joined;
  const absl::Status status = JoinSelectors(modifiers, joined);
  if (!status.ok()) return status;
  const User* known = Find(name);
  draft = known != nullptr ? std::make_unique<User>(*known)
                           : std::make_unique<User>(std::string(name), commands_, all_channels);
  for (const std::string& modifier : joined) {
    const absl::Status applied = draft->Apply(modifier, all_channels);
    if (applied.ok()) continue;
    return Refusal("ERR Error in ACL SETUSER modifier '" + modifier +
                   "': " + std::string(ErrorLine(applied)));
  }
  return absl::OkStatus();
}

void Users::Put(const User& user) {
  const auto known = by_name_.find(user.name());
  if (known != by_name_.end()) {
    *known->second = user;
  } else {
    by_name_.emplace(user.name(), std::make_unique<User>(user));
  }
}

void Users::SetDefaultPassword(std::string_view password) {
  (void)default_->Apply("resetpass", false);
  const std::string modifier = password.empty() ? "nopass" : ">" + std::string(password);
  (void)default_->Apply(modifier, false);
}

std::unique_ptr<User> Users::Remove(std::string_view name) {
  assert(name != kDefault);  // clients without another user have it
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  return std::move(by_name_.extract(found).mapped());
}

absl::Status JoinSelectors(Args modifiers, std::vector<std::string>& joined) {
  bool open = false;
  std::string_view opened;
  for (const std::string_view modifier : modifiers) {
    if (!open) {
      opened = modifier;
      joined.emplace_back(modifier);
    } else {
      joined.back().append(" ").append(modifier);
    }
    open = (open || modifier.starts_with('(')) && !modifier.ends_with(')');
  }
  if (!open) return absl::OkStatus();
  return Refusal("ERR Unmatched parenthesis in acl selector starting at '" + std::string(opened) +
                 "'.");
}

}  // namespace zsetd
