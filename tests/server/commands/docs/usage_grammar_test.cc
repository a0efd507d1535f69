#include "server/commands/docs/usage_grammar.h"

#include <gtest/gtest.h>

#include "server/commands/all_commands.h"
#include "server/commands/docs/usage_text.h"

namespace zsetd {
namespace {

using Type = Argument::Type;

// The only argument of a usage.
Argument Only(std::string_view usage) {
  const auto arguments = ParseUsage(usage);
  if (!arguments || arguments->size() != 1) {
    ADD_FAILURE() << usage;
    return Argument();
  }
  return arguments->front();
}

TEST(Usage, NamesDetermineTypes) {
  const auto arguments = *ParseUsage("key member score count unix-time-seconds pattern");
  const std::vector<Type> types = {Type::kKey,     Type::kString,   Type::kDouble,
                                   Type::kInteger, Type::kUnixTime, Type::kPattern};
  ASSERT_EQ(arguments.size(), types.size());
  for (size_t i = 0; i < types.size(); ++i) EXPECT_EQ(arguments[i].type, types[i]) << i;
}

TEST(Usage, UpperCaseIsAToken) {
  EXPECT_EQ(Only("WITHSCORES"),
            (Argument{.name = "withscores", .type = Type::kPureToken, .token = "WITHSCORES"}));
}

TEST(Usage, ATokenIntroducesAnArgument) {
  EXPECT_EQ(
      Only("[COUNT count]"),
      (Argument{.name = "count", .type = Type::kInteger, .token = "COUNT", .optional = true}));
}

TEST(Usage, ATokenIntroducesABlock) {
  const Argument limit = Only("[LIMIT offset count]");
  EXPECT_EQ(limit.name, "offset_count");
  EXPECT_EQ(limit.type, Type::kBlock);
  EXPECT_EQ(limit.token, "LIMIT");
  EXPECT_TRUE(limit.optional);
  EXPECT_EQ(limit.arguments, *ParseUsage("offset count"));
}

TEST(Usage, ATokenIntroducesAChoice) {
  const Argument aggregate = Only("[AGGREGATE <SUM|MIN>]");
  EXPECT_EQ(aggregate.name, "aggregate");
  EXPECT_EQ(aggregate.type, Type::kOneOf);
  EXPECT_EQ(aggregate.token, "AGGREGATE");
  EXPECT_EQ(aggregate.arguments, Only("<SUM|MIN>").arguments);
}

TEST(Usage, ATokenEndsWhatTheOneBeforeItIntroduces) {
  EXPECT_EQ(ParseUsage("EX seconds NX")->size(), 2u);
  EXPECT_EQ(ParseUsage("EX seconds [NX]")->size(), 2u);
}

TEST(Usage, AlternativesAreOneOf) {
  const Argument expiration = Only("[EX seconds|KEEPTTL]");
  EXPECT_EQ(expiration.type, Type::kOneOf);
  EXPECT_TRUE(expiration.optional);
  ASSERT_EQ(expiration.arguments.size(), 2u);
  EXPECT_EQ(expiration.arguments[0].token, "EX");
  EXPECT_EQ(expiration.arguments[1].type, Type::kPureToken);
}

TEST(Usage, ARepeatedArgumentIsMultiple) {
  EXPECT_EQ(Only("key [key ...]"), (Argument{.name = "key", .type = Type::kKey, .multiple = true}));
}

TEST(Usage, RepeatedArgumentsAreABlock) {
  const auto arguments = *ParseUsage("key score member [score member ...]");
  ASSERT_EQ(arguments.size(), 2u);
  EXPECT_EQ(arguments[1].name, "score_member");
  EXPECT_EQ(arguments[1].type, Type::kBlock);
  EXPECT_TRUE(arguments[1].multiple);
  EXPECT_EQ(arguments[1].arguments, *ParseUsage("score member"));
}

TEST(Usage, ATokenIsRepeatedOrNot) {
  const Argument weights = Only("[WEIGHTS weight [weight ...]]");
  EXPECT_TRUE(weights.optional && weights.multiple && !weights.multiple_token);
  const Argument get = Only("GET pattern [GET pattern ...]");
  EXPECT_TRUE(!get.optional && get.multiple && get.multiple_token);
}

TEST(Usage, ErrorsAreDetected) {
  for (const std::string_view bad :
       {"[", "]", "[]", "[key", "key]", "<a|b]", "a|", "|a", "a|b", "...", "key ...",
        "key [other ...]", "[key ...]", "<>", "a []", "[AGGREGATE SUM|MIN]"}) {
    EXPECT_FALSE(ParseUsage(bad)) << bad;
  }
}

TEST(Usage, EveryRowsUsageIsParsedAndFormattedUnchanged) {
  for (const auto& family : AllCommands()) {
    for (const Command& row : family) {
      const auto arguments = ParseUsage(row.usage);
      EXPECT_TRUE(arguments) << row.name << ": " << row.usage;
      if (!arguments) continue;
      EXPECT_EQ(UsageText(*arguments), row.usage) << row.name;
    }
  }
}

}  // namespace
}  // namespace zsetd
