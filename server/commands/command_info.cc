#include "server/commands/command_info.h"

#include <algorithm>
#include <utility>

namespace zsetd {
namespace {

using FlagName = std::pair<CommandFlag, std::string_view>;

constexpr FlagName kFlagNames[] = {
    {kWrite, "write"},
    {kReadOnly, "readonly"},
    {kDenyOom, "denyoom"},
    {kAdmin, "admin"},
    {kPubSub, "pubsub"},
    {kNoScript, "noscript"},
    {kBlocking, "blocking"},
    {kLoading, "loading"},
    {kStale, "stale"},
    {kSkipMonitor, "skip_monitor"},
    {kSkipSlowlog, "skip_slowlog"},
    {kFast, "fast"},
    {kNoAuth, "no_auth"},
    {kNoAsyncLoading, "no_async_loading"},
    {kNoMulti, "no_multi"},
    {kMovableKeys, "movablekeys"},
    {kAllowBusy, "allow_busy"},
    {kNoMandatoryKeys, "no_mandatory_keys"},
};

// A set of words, each said as a simple string.
void ReplyWords(ReplyWriter& reply, const std::vector<std::string_view>& words) {
  reply.Set(words.size());
  for (const std::string_view word : words) reply.Simple(word);
}

// The parts of a text between separators; none of an empty one.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    parts.push_back(text.substr(0, text.find(separator)));
    text.remove_prefix(std::min(text.size(), parts.back().size() + 1));
  }
  return parts;
}

void ReplyTips(ReplyWriter& reply, const Command& command) {
  const std::vector<std::string_view> tips = Split(command.tips, ' ');
  reply.Set(tips.size());
  for (const std::string_view tip : tips) reply.Bulk(tip);
}

std::string_view UsualUse(const Command& command) {
  if (command.keys.are_channels) return "not_key";
  return command.Has(kWrite) ? "RW access update" : "RO access";
}

std::vector<std::string_view> FlagsOf(const Command& command) {
  std::vector<std::string_view> names;
  for (const auto& [flag, name] : kFlagNames) {
    if (command.Has(flag)) names.push_back(name);
  }
  return names;
}

// The category of the command's group; empty if it has none, as if there are only its subcommands.
std::string_view GroupCategory(const Command& command) {
  if (command.run == nullptr) return "";
  const bool uses_keys = command.Has(kWrite) || command.Has(kReadOnly);
  switch (command.group) {
    case CommandGroup::kString:
      return "@string";
    case CommandGroup::kBitmap:
      return "@bitmap";
    case CommandGroup::kList:
      return "@list";
    case CommandGroup::kHash:
      return "@hash";
    case CommandGroup::kSet:
      return "@set";
    case CommandGroup::kSortedSet:
      return "@sortedset";
    case CommandGroup::kGeo:
      return "@geo";
    case CommandGroup::kGeneric:
      return "@keyspace";
    case CommandGroup::kTransactions:
      return "@transaction";
    case CommandGroup::kConnection:
      return "@connection";
    case CommandGroup::kScripting:
      return "@scripting";
    case CommandGroup::kServer:
      return uses_keys && command.keys.first == 0 ? "@keyspace" : "";  // all of them
    case CommandGroup::kPubSub:
      return "";  // its flag says it
  }
  return "";
}

void ReplyBeginSearch(ReplyWriter& reply, const KeySpec& spec) {
  const bool searched = !spec.option.empty();
  reply.Bulk("begin_search");
  reply.Map(2);
  reply.Bulk("type");
  reply.Bulk(searched ? "keyword" : "index");
  reply.Bulk("spec");
  reply.Map(searched ? 2 : 1);
  if (searched) {
    reply.Bulk("keyword");
    reply.Bulk(spec.option);
  }
  reply.Bulk(searched ? "startfrom" : "index");
  reply.Integer(spec.begin);
}

void ReplyFindKeys(ReplyWriter& reply, const KeySpec& spec) {
  using Field = std::pair<std::string_view, int>;
  const Field counted[] = {{"keynumidx", 0}, {"firstkey", 1}, {"keystep", spec.step}};
  const Field range[] = {{"lastkey", spec.last}, {"keystep", spec.step}, {"limit", 0}};
  reply.Bulk("find_keys");
  reply.Map(2);
  reply.Bulk("type");
  reply.Bulk(spec.counted ? "keynum" : "range");
  reply.Bulk("spec");
  reply.Map(3);
  for (const auto& [name, value] : spec.counted ? counted : range) {
    reply.Bulk(name);
    reply.Integer(value);
  }
}

void ReplyKeySpecs(ReplyWriter& reply, const Command& command) {
  const std::vector<KeySpec> specs = KeySpecsOf(command);
  reply.Set(specs.size());
  for (const KeySpec& spec : specs) {
    reply.Map(3);
    reply.Bulk("flags");
    ReplyKeyFlags(reply, spec.use);
    ReplyBeginSearch(reply, spec);
    ReplyFindKeys(reply, spec);
  }
}

}  // namespace

std::vector<std::string_view> CategoriesOf(const Command& command) {
  std::vector<std::string_view> categories;
  const auto add_if = [&](bool belongs, std::string_view category) {
    if (belongs && !category.empty()) categories.push_back(category);
  };
  add_if(command.Has(kWrite), "@write");
  add_if(command.Has(kReadOnly) && command.group != CommandGroup::kScripting, "@read");
  add_if(true, GroupCategory(command));
  add_if(command.Has(kConnectionCategory), "@connection");
  add_if(command.Has(kPubSub), "@pubsub");
  add_if(command.Has(kAdmin), "@admin");
  add_if(true, command.Has(kFast) ? "@fast" : "@slow");
  add_if(command.Has(kBlocking), "@blocking");
  add_if(command.Has(kAdmin) || command.Has(kDangerous), "@dangerous");
  return categories;
}

// Fixed places are told one by one, so that each can be named. Of keys up to the end the first is
// told apart where it is used in another way: that is where the result goes.
std::vector<KeySpec> KeySpecsOf(const Command& command) {
  const KeyPlaces& keys = command.keys;
  const std::vector<std::string_view> uses = Split(command.key_use, ',');
  std::vector<KeySpec> specs;
  const auto add = [&](KeySpec spec) {
    spec.use = specs.size() < uses.size() ? uses[specs.size()] : UsualUse(command);
    specs.push_back(spec);
  };
  const bool up_to_the_end = keys.first != 0 && keys.last < 0;
  const bool first_apart = up_to_the_end && uses.size() > 1;
  if (first_apart) add({.begin = keys.first, .counted = false});
  if (up_to_the_end) {
    add({.begin = keys.first + first_apart,
         .counted = false,
         .last = keys.last,
         .step = keys.step});
  }
  for (int at = keys.first; at != 0 && at <= keys.last; at += keys.step) {
    add({.begin = at, .counted = false});
  }
  if (keys.count_at != 0) add({.begin = keys.count_at, .counted = true});
  for (const std::string_view option : keys.options) {
    add({.begin = keys.options_from, .counted = false, .option = option});
  }
  return specs;
}

void ReplyKeyFlags(ReplyWriter& reply, std::string_view use) { ReplyWords(reply, Split(use, ' ')); }

void ReplyCommandInfo(ReplyWriter& reply, const CommandTable& table, const Command& command) {
  reply.Array(10);
  reply.Bulk(command.name);
  reply.Integer(command.arity);
  ReplyWords(reply, FlagsOf(command));
  reply.Integer(command.keys.first);
  reply.Integer(command.keys.last);
  reply.Integer(command.keys.step);
  ReplyWords(reply, CategoriesOf(command));
  ReplyTips(reply, command);
  ReplyKeySpecs(reply, command);
  const std::span<const Command> subcommands = table.SubcommandsOf(command);
  if (subcommands.empty()) return reply.Set(0);
  reply.Array(subcommands.size());
  for (const Command& subcommand : subcommands) ReplyCommandInfo(reply, table, subcommand);
}

}  // namespace zsetd
