#include "server/cluster/bus_links.h"

#include <algorithm>
#include <cassert>
#include <optional>
#include <utility>

namespace zsetd {
namespace {

// Returns "127.0.0.1:7000" or "[::1]:7000" without the port.
std::string IpOf(const std::string& address) {
  const std::string_view text = std::string_view(address).substr(0, address.rfind(':'));
  const bool has_brackets = text.starts_with('[') && text.ends_with(']');
  return std::string(has_brackets ? text.substr(1, text.size() - 2) : text);
}

}  // namespace

class BusLinks::Link : public Connection::Owner {
 public:
  // `id` is null for a connection of another node, until it is ready.
  Link(BusLinks& links, std::optional<LinkId> link, Millis opened)
      : id(link),
        is_accepted(!link),
        created(opened),
        number(++links.last_number_),
        links_(links) {}

  void OnConnected() override { links_.OnReady(*this, connection->endpoints()); }
  void OnReceived(std::string_view bytes) override;
  void OnConnectionEnd(std::string_view reason) override { links_.OnEnd(*this, reason); }

  size_t UnsentBytes() const { return connection == nullptr ? 0 : connection->unsent_bytes(); }
  Status StatusNow() const {
    const size_t unsent = UnsentBytes();
    return {.unsent_bytes = unsent, .capacity = unsent + incomplete_.capacity()};
  }

  std::optional<LinkId> id;
  const bool is_accepted;
  const Millis created;
  const uint64_t number;  // in the order of creation
  bool is_open = false;
  bool has_received = false;
  std::unique_ptr<Connection> connection;  // null: the link is closed

 private:
  void Collect(std::string_view& bytes, size_t length);
  void Deliver(std::string_view message);

  BusLinks& links_;
  std::string incomplete_;  // the beginning of a message
};

// Whole messages are delivered from `bytes`, without a copy.
void BusLinks::Link::OnReceived(std::string_view bytes) {
  while (!bytes.empty() && connection != nullptr) {
    const std::string_view known = incomplete_.empty() ? bytes : std::string_view(incomplete_);
    if (known.size() < kBusPrefixBytes) {
      Collect(bytes, kBusPrefixBytes);
      continue;
    }
    const std::optional<size_t> length = BusMessageLength(known);
    if (!length) return links_.OnEnd(*this, "its bytes are no message");
    if (*length > kMostBytesOfStranger && !links_.owner_.IsOfKnownNode(*id)) {
      return links_.OnEnd(*this, "a stranger's message is too long");
    }
    if (incomplete_.empty() && bytes.size() >= *length) {
      const std::string_view message = bytes.substr(0, *length);
      bytes.remove_prefix(*length);
      Deliver(message);
      continue;
    }
    Collect(bytes, *length);
    if (incomplete_.size() == *length) Deliver(std::exchange(incomplete_, {}));
  }
}

// Moves bytes to the incomplete message, up to its first `length` bytes.
void BusLinks::Link::Collect(std::string_view& bytes, size_t length) {
  assert(incomplete_.size() < length);
  const std::string_view part = bytes.substr(0, length - incomplete_.size());
  incomplete_.append(part);
  bytes.remove_prefix(part.size());
}

void BusLinks::Link::Deliver(std::string_view message) {
  has_received = true;
  links_.owner_.OnMessage(*id, message);
}

BusLinks::BusLinks(Connector& connector, Owner& owner, const Log& log)
    : connector_(connector), owner_(owner), log_(log) {}

BusLinks::~BusLinks() = default;

void BusLinks::Open(LinkId link, const Connector::Target& target) {
  assert(!links_.contains(link));
  Connector::Target wanted = target;
  wanted.read_bytes = Connection::kFewReadBytes;
  Link& added = *links_.emplace(link, std::make_unique<Link>(*this, link, Millis(0))).first->second;
  added.connection = connector_.Connect(wanted, added);
}

// A node is a stranger until its first message, which it sends immediately. So the oldest stranger
// is the least likely one to be a node, and strangers cannot keep nodes out.
void BusLinks::Take(const PeerPort::Accept& accept, Millis now) {
  if (accepted_ >= limits_.most_accepted) {
    Link* const oldest = OldestOfStrangers();
    if (oldest == nullptr) return;
    OnEnd(*oldest, "there are too many connections of strangers");
  }
  ++accepted_;
  waiting_.push_back(std::make_unique<Link>(*this, std::nullopt, now));
  Link& added = *waiting_.back();
  added.connection = accept(added);
}

void BusLinks::OnReady(Link& link, const Connection::Endpoints& endpoints) {
  link.is_open = true;
  const std::string peer_ip = IpOf(endpoints.address);
  const std::string own_ip = IpOf(endpoints.local_address);
  if (link.id) return owner_.OnOpened(*link.id, peer_ip, own_ip);
  std::unique_ptr<Link> taken = TakeOut(link);
  link.id = owner_.OnAccepted(peer_ip, own_ip);
  links_.emplace(*link.id, std::move(taken));
}

BusLinks::Link* BusLinks::OldestOfStrangers() {
  Link* oldest = nullptr;
  const auto consider = [&](Link& link) {
    const bool is_stranger = link.is_accepted && (!link.id || !owner_.IsOfKnownNode(*link.id));
    const bool is_older = oldest == nullptr || link.number < oldest->number;
    if (is_stranger && is_older) oldest = &link;
  };
  for (const auto& [id, link] : links_) consider(*link);
  for (const auto& link : waiting_) consider(*link);
  return oldest;
}

void BusLinks::Send(LinkId link, std::string_view message) {
  const auto found = links_.find(link);
  if (found == links_.end() || !found->second->is_open) return;
  Connection& connection = *found->second->connection;
  connection.output().Append(message);
  connection.Send();
}

std::unique_ptr<BusLinks::Link> BusLinks::TakeOut(const Link& link) {
  if (link.id) {
    auto entry = links_.extract(*link.id);
    return entry.empty() ? nullptr : std::move(entry.mapped());
  }
  const auto found = std::ranges::find(waiting_, &link, &std::unique_ptr<Link>::get);
  if (found == waiting_.end()) return nullptr;
  std::unique_ptr<Link> taken = std::move(*found);
  waiting_.erase(found);
  return taken;
}

void BusLinks::Close(LinkId link) {
  const auto found = links_.find(link);
  if (found == links_.end()) return;
  accepted_ -= found->second->is_accepted;
  found->second->connection.reset();
  closed_.push_back(TakeOut(*found->second));
}

// The link ends without a request of the owner.
void BusLinks::OnEnd(Link& link, std::string_view reason) {
  std::unique_ptr<Link> taken = TakeOut(link);
  if (taken == nullptr) return;  // closed already
  if (log_.IsOn(LogLevel::kDebug)) {
    log_.Write(LogLevel::kDebug, "A link of the cluster bus has ended: " + std::string(reason));
  }
  accepted_ -= link.is_accepted;
  link.connection.reset();
  closed_.push_back(std::move(taken));
  if (link.id) owner_.OnClosed(*link.id);
}

// An end that the owner is notified of may close other links.
void BusLinks::Maintain(Millis now, Millis patience) {
  closed_.clear();
  std::vector<Link*> full;
  std::vector<Link*> silent;
  const auto check = [&](Link& link) {
    const size_t most = limits_.most_unsent_bytes;
    if (most != 0 && link.UnsentBytes() > most) return full.push_back(&link);
    const bool is_late = now - link.created > patience;
    if (link.is_accepted && !link.has_received && is_late) silent.push_back(&link);
  };
  for (const auto& [id, link] : links_) check(*link);
  for (const auto& link : waiting_) check(*link);
  overflows_ += full.size();
  for (Link* const link : full) OnEnd(*link, "cluster-link-sendbuf-limit was reached");
  for (Link* const link : silent) OnEnd(*link, "no message has arrived");
}

BusLinks::Status BusLinks::StatusOf(LinkId link) const {
  const auto found = links_.find(link);
  return found == links_.end() ? Status() : found->second->StatusNow();
}

size_t BusLinks::BytesUsed() const {
  size_t bytes = 0;
  for (const auto& [id, link] : links_) bytes += link->StatusNow().capacity;
  for (const auto& link : waiting_) bytes += link->StatusNow().capacity;
  return bytes;
}

}  // namespace zsetd
