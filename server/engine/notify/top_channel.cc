#include "server/engine/notify/top_channel.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "core/sorted_set/sorted_set.h"
#include "protocol/resp/inline_words.h"
#include "protocol/text/number_text.h"
#include "server/engine/support/score_text.h"

namespace zsetd {
namespace {

// Takes the text up to the separator as a number from 0 to `most`, and the separator.
std::optional<int64_t> TakeNumber(std::string_view& text, std::string_view separator,
                                  int64_t most) {
  const size_t end = text.find(separator);
  if (end == std::string_view::npos) return std::nullopt;
  const std::optional<int64_t> number = ParseInteger(text.substr(0, end));
  if (!number || *number < 0 || *number > most) return std::nullopt;
  text.remove_prefix(end + separator.size());
  return number;
}

std::string IdentityOf(std::string_view member) {
  if (member.size() <= TopElement::kShownBytes) return std::string(member);
  const uint64_t hash = absl::HashOf(member);
  std::string identity;
  identity.reserve(TopElement::kShownBytes + sizeof(hash));
  identity.append(member.substr(0, TopElement::kShownBytes));
  return identity.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
}

void AddLine(std::string& text, std::string_view line, const TopElement& element) {
  if (!text.empty()) text += '\n';
  text += line;
  text += QuoteWord(element.shown());
}

std::string RankText(size_t rank) { return IntegerText(static_cast<int64_t>(rank)); }

}  // namespace

std::optional<TopChannel> ReadTopChannel(std::string_view name) {
  TopChannel channel;
  if (name.starts_with("__toprev@")) {
    channel.reversed = true;
    name.remove_prefix(9);
  } else if (name.starts_with("__top@")) {
    name.remove_prefix(6);
  } else {
    return std::nullopt;
  }
  const auto database = TakeNumber(name, "__:", std::numeric_limits<int>::max());
  if (!database) return std::nullopt;
  const auto count = TakeNumber(name, ":", TopChannel::kMostElements);
  if (!count || *count == 0) return std::nullopt;
  channel.database = static_cast<int>(*database);
  channel.count = static_cast<size_t>(*count);
  channel.key = name;
  return channel;
}

TopElement::TopElement(std::string_view member, std::string score, uint64_t state)
    : identity_(IdentityOf(member)), score_(std::move(score)), state_(state) {}

size_t Top::AllocatedBytes() const {
  size_t bytes = AllocationSize(elements.capacity() * sizeof(TopElement));
  for (const TopElement& element : elements) bytes += element.AllocatedBytes();
  return bytes;
}

Top TopOf(const SortedSet* set, size_t count, bool reversed, Millis now) {
  if (set == nullptr || set->empty()) return {};
  Top top = {.form = set->form(), .elements = {}};
  const size_t size = std::min(count, set->size());
  top.elements.reserve(size);
  SortedSet::Cursor at = set->At(reversed ? set->size() - 1 : 0);
  while (top.elements.size() < size) {
    const Element element = at.element();
    top.elements.emplace_back(element.member, ScoreText(top.form, element.score, now),
                              top.form.decays() ? ScoreCode(element.score) : 0);
    reversed ? at.Previous() : at.Next();
  }
  return top;
}

std::string TopChanges(const Top& before, const Top& after) {
  absl::flat_hash_map<std::string_view, size_t> old_ranks;
  for (size_t rank = 0; rank < before.elements.size(); ++rank) {
    old_ranks[before.elements[rank].identity()] = rank;
  }
  const bool has_other_form = before.form != after.form;
  std::string arrivals;
  for (size_t rank = 0; rank < after.elements.size(); ++rank) {
    const TopElement& element = after.elements[rank];
    const auto old = has_other_form ? old_ranks.end() : old_ranks.find(element.identity());
    const std::string place = RankText(rank) + ' ' + element.score() + ' ';
    if (old == old_ranks.end()) {
      AddLine(arrivals, "in " + place, element);
      continue;
    }
    if (!before.elements[old->second].HasScoreOf(element)) {
      AddLine(arrivals, "move " + RankText(old->second) + ' ' + place, element);
    }
    old_ranks.erase(old);
  }
  std::string text;
  for (const TopElement& element : before.elements) {
    if (old_ranks.contains(element.identity())) AddLine(text, "out ", element);
  }
  if (!text.empty() && !arrivals.empty()) text += '\n';
  return text + arrivals;
}

}  // namespace zsetd
