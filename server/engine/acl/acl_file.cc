#include "server/engine/acl/acl_file.h"

#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/engine/support/errors.h"
#include "server/engine/support/split.h"
#include "server/engine/support/whole_file.h"

namespace zsetd {
namespace {

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::string_view Trimmed(std::string_view line) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const size_t start = line.find_first_not_of(kSpaces);
  if (start == std::string_view::npos) return {};
  return line.substr(start, line.find_last_not_of(kSpaces) + 1 - start);
}

// Reads the lines of one file and collects their errors, in the wording of Redis.
class UsersFileReader {
 public:
  UsersFileReader(std::string path, const CommandTable& commands, bool all_channels, Users& users)
      : path_(std::move(path)), commands_(commands), all_channels_(all_channels), users_(users) {}

  void Read(std::string_view line) {
    ++number_;
    const std::vector<std::string_view> words = WordsOf(Trimmed(line));
    if (words.empty()) return;
    if (words.size() < 2 || words[0] != "user") {
      errors_ += Place() + " should start with user keyword followed by the username. ";
    } else if (HasSpaces(words[1])) {
      errors_ += "'" + Place() + ": username '" + std::string(words[1]) +
                 "' contains invalid characters. ";
    } else if (!names_.emplace(words[1]).second) {
      errors_ += "WARNING: Duplicate user '" + std::string(words[1]) + "' found on line " +
                 std::to_string(number_) + ". ";
    } else {
      ReadUser(std::string(words[1]), Args(words).subspan(2));
    }
  }

  absl::Status Result() const {
    if (errors_.empty()) return absl::OkStatus();
    return Refusal("ERR " + errors_ +
                   "WARNING: ACL errors detected, no change to the previously active ACL rules was "
                   "performed");
  }

 private:
  void ReadUser(std::string name, Args modifiers) {
    std::vector<std::string> joined;
    if (!JoinSelectors(modifiers, joined).ok()) {
      errors_ += Place() + ": Unmatched parenthesis in selector definition.";
      return;
    }
    User user(std::move(name), commands_, all_channels_);
    // Once a line, and without the rule, which may contain a secret.
    bool syntax_error_reported = false;
    for (const std::string& modifier : joined) {
      const absl::Status status = user.Apply(modifier, all_channels_);
      if (status.ok()) continue;
      const std::string reason(ErrorLine(status));
      if (reason == kUnknownAclCommand) {
        errors_ +=
            absl::StrCat(Place(), ": Error in applying operation '", modifier, "': ", reason, ". ");
      } else if (!syntax_error_reported) {
        syntax_error_reported = true;
        errors_ += Place() + ": " + reason + ". ";
      }
    }
    users_.Put(user);
  }

  std::string Place() const { return path_ + ":" + std::to_string(number_); }

  const std::string path_;
  const CommandTable& commands_;
  const bool all_channels_;
  Users& users_;
  std::set<std::string, std::less<>> names_;
  int number_ = 0;
  std::string errors_;
};

}  // namespace

absl::Status ReadUsersFile(const std::string& path, bool all_channels, Users& users) {
  absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) {
    return Refusal("ERR Error loading ACLs, opening file '" + path +
                   "': " + std::string(ErrorLine(text.status())));
  }
  std::istringstream lines(*std::move(text));
  UsersFileReader reader(path, users.commands(), all_channels, users);
  for (std::string line; std::getline(lines, line);) reader.Read(line);
  return reader.Result();
}

absl::Status WriteUsersFile(const std::string& path, const Users& users) {
  std::string text;
  for (const auto& [name, user] : users.all()) text += user->Text() + '\n';
  return ReplaceFile(path, text, PermissionsOf(path));
}

absl::Status ReadUserLines(const std::vector<std::vector<std::string>>& lines, bool all_channels,
                           Users& users) {
  std::set<std::string> names;
  for (const std::vector<std::string>& line : lines) {
    const std::string start = "Error in user declaration '" + line[0] + "': ";
    if (HasSpaces(line[0])) return Refusal("Spaces not allowed in ACL usernames");
    if (line[0].empty()) return Refusal("An ACL username can't be empty");
    if (!names.insert(line[0]).second) {
      return Refusal(start +
                     "Duplicate user found. A user can only be defined once in config files");
    }
    const std::vector<std::string_view> modifiers(line.begin() + 1, line.end());
    std::vector<std::string> joined;
    absl::Status status = JoinSelectors(modifiers, joined);
    User user(line[0], users.commands(), all_channels);
    for (const std::string& modifier : joined) {
      if (status.ok()) status = user.Apply(modifier, all_channels);
    }
    if (!status.ok()) return Refusal(start + std::string(ErrorLine(status)));
    users.Put(user);
  }
  return absl::OkStatus();
}

}  // namespace zsetd
