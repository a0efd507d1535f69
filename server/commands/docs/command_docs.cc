#include "server/commands/docs/command_docs.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <string_view>
#include <vector>

#include "server/commands/docs/usage_grammar.h"
#include "server/engine/command/key_specs.h"

namespace zsetd {
namespace {

using Type = Argument::Type;

std::string_view NameOf(CommandGroup group) {
  switch (group) {
    case CommandGroup::kString:
      return "string";
    case CommandGroup::kBitmap:
      return "bitmap";
    case CommandGroup::kHyperLogLog:
      return "hyperloglog";
    case CommandGroup::kList:
      return "list";
    case CommandGroup::kHash:
      return "hash";
    case CommandGroup::kSet:
      return "set";
    case CommandGroup::kSortedSet:
      return "sorted-set";
    case CommandGroup::kGeo:
      return "geo";
    case CommandGroup::kStream:
      return "stream";
    case CommandGroup::kGeneric:
      return "generic";
    case CommandGroup::kTransactions:
      return "transactions";
    case CommandGroup::kPubSub:
      return "pubsub";
    case CommandGroup::kConnection:
      return "connection";
    case CommandGroup::kScripting:
      return "scripting";
    case CommandGroup::kCluster:
      return "cluster";
    case CommandGroup::kServer:
      return "server";
  }
  return "";
}

std::string_view NameOf(Type type) {
  switch (type) {
    case Type::kString:
      return "string";
    case Type::kInteger:
      return "integer";
    case Type::kDouble:
      return "double";
    case Type::kKey:
      return "key";
    case Type::kPattern:
      return "pattern";
    case Type::kUnixTime:
      return "unix-time";
    case Type::kPureToken:
      return "pure-token";
    case Type::kOneOf:
      return "oneof";
    case Type::kBlock:
      return "block";
  }
  return "";
}

void ReplyPair(ReplyWriter& reply, std::string_view name, std::string_view text) {
  reply.Bulk(name);
  reply.Bulk(text);
}

// Writes the arguments of one command. Keys, and patterns that name keys, have the index of their
// key spec.
class ArgumentWriter {
 public:
  ArgumentWriter(ReplyWriter& reply, const Command& command) : reply_(reply) {
    const KeySpecs specs = KeySpecsOf(command);
    for (size_t index = 0; index < specs.size(); ++index) {
      const bool of_patterns = specs[index].unknown && specs[index].option.empty();
      if (of_patterns) {
        pattern_spec_ = index;
      } else {
        key_specs_.push_back(index);
      }
    }
  }

  void Write(const std::vector<Argument>& arguments) {
    reply_.Array(arguments.size());
    for (const Argument& argument : arguments) Write(argument);
  }

 private:
  void Write(const Argument& argument);
  void WriteFlags(const Argument& argument);
  std::optional<size_t> TakeKeySpec(const Argument& argument);

  ReplyWriter& reply_;
  std::deque<size_t> key_specs_;  // not used yet
  std::optional<size_t> pattern_spec_;
};

std::optional<size_t> ArgumentWriter::TakeKeySpec(const Argument& argument) {
  if (argument.type == Type::kPattern) return pattern_spec_;
  if (argument.type != Type::kKey || key_specs_.empty()) return std::nullopt;
  const size_t spec = key_specs_.front();
  key_specs_.pop_front();
  return spec;
}

void ArgumentWriter::Write(const Argument& argument) {
  const std::optional<size_t> key_spec = TakeKeySpec(argument);
  const bool is_leaf = argument.arguments.empty();
  const bool has_token = !argument.token.empty();
  const bool has_flags = argument.optional || argument.multiple;
  reply_.Map(3 + key_spec.has_value() + has_token + has_flags);
  ReplyPair(reply_, "name", argument.name);
  ReplyPair(reply_, "type", NameOf(argument.type));
  if (is_leaf) ReplyPair(reply_, "display_text", argument.name);
  if (key_spec) {
    reply_.Bulk("key_spec_index");
    reply_.Integer(static_cast<int64_t>(*key_spec));
  }
  if (has_token) ReplyPair(reply_, "token", argument.token);
  if (has_flags) WriteFlags(argument);
  if (is_leaf) return;
  reply_.Bulk("arguments");
  Write(argument.arguments);
}

void ArgumentWriter::WriteFlags(const Argument& argument) {
  reply_.Bulk("flags");
  reply_.Set(argument.optional + argument.multiple + argument.multiple_token);
  if (argument.optional) reply_.Simple("optional");
  if (argument.multiple) reply_.Simple("multiple");
  if (argument.multiple_token) reply_.Simple("multiple_token");
}

}  // namespace

void ReplyCommandDocs(ReplyWriter& reply, const CommandTable& table, const Command& command) {
  const auto arguments = ParseUsage(command.usage).value_or(std::vector<Argument>());
  const std::span<const Command> subcommands = table.SubcommandsOf(command);
  reply.Bulk(command.name);
  reply.Map(4 + !arguments.empty() + !subcommands.empty());
  ReplyPair(reply, "summary", command.summary);
  ReplyPair(reply, "since", command.since);
  ReplyPair(reply, "group", NameOf(command.group));
  ReplyPair(reply, "complexity", command.cost);
  if (!arguments.empty()) {
    reply.Bulk("arguments");
    ArgumentWriter(reply, command).Write(arguments);
  }
  if (subcommands.empty()) return;
  reply.Bulk("subcommands");
  reply.Map(subcommands.size());
  for (const Command& subcommand : subcommands) ReplyCommandDocs(reply, table, subcommand);
}

}  // namespace zsetd
