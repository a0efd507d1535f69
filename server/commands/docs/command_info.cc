#include "server/commands/docs/command_info.h"

#include <utility>
#include <vector>

#include "server/engine/command/command_categories.h"
#include "server/engine/command/key_specs.h"
#include "server/engine/support/split.h"

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

// Replies a set of words, each as a simple string.
void ReplyWords(ReplyWriter& reply, const std::vector<std::string_view>& words) {
  reply.Set(words.size());
  for (const std::string_view word : words) reply.Simple(word);
}

void ReplyTips(ReplyWriter& reply, const Command& command) {
  const std::vector<std::string_view> tips = Split(command.tips, ' ');
  reply.Set(tips.size());
  for (const std::string_view tip : tips) reply.Bulk(tip);
}

std::vector<std::string_view> FlagsOf(const Command& command) {
  std::vector<std::string_view> names;
  for (const auto& [flag, name] : kFlagNames) {
    if (command.Has(flag)) names.push_back(name);
  }
  if (command.implies_asking) names.push_back("asking");
  return names;
}

// Replies that this step is unknown.
void ReplyUnknown(ReplyWriter& reply, std::string_view step) {
  reply.Bulk(step);
  reply.Map(2);
  reply.Bulk("type");
  reply.Bulk("unknown");
  reply.Bulk("spec");
  reply.Map(0);
}

void ReplyBeginSearch(ReplyWriter& reply, const KeySpec& spec) {
  if (spec.unknown) return ReplyUnknown(reply, "begin_search");
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
  if (spec.unknown) return ReplyUnknown(reply, "find_keys");
  using Field = std::pair<std::string_view, int>;
  const Field counted[] = {{"keynumidx", 0}, {"firstkey", 1}, {"keystep", spec.step}};
  const Field range[] = {{"lastkey", spec.last}, {"keystep", spec.step}, {"limit", spec.limit}};
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
  const KeySpecs specs = KeySpecsOf(command);
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
