#include "server/http/page_commands.h"

#include <string_view>
#include <utility>

#include "server/engine/acl/access_control.h"
#include "server/engine/client/client.h"
#include "server/process/clock.h"

namespace zsetd {
namespace {

class Running {
 public:
  Running(Engine& engine, std::shared_ptr<const PageRequest> request,
          std::function<void(PageReplies)> done)
      : engine_(engine), request_(std::move(request)), done_(std::move(done)) {}
  Running(const Running&) = delete;

  // The server may drop the run before its end when it stops.
  ~Running() {
    if (client_ != nullptr) engine_.clients().Detach(*client_);
  }

  bool Step() {
    engine_.executor().BeginBatch(UnixNow());
    if (client_ == nullptr) {
      Enter();
    } else if (!client_->connection.close_now && client_->output.long_reply) {
      engine_.executor().ContinueReply(*client_);
      Collect();
    } else if (next_ < request_->commands.size()) {
      Run(request_->commands[next_++]);
    }
    const bool more = client_->output.long_reply != nullptr || next_ < request_->commands.size();
    if (result_.access == PageReplies::Access::kGranted && more) return true;
    Leave();
    return false;
  }

 private:
  using Access = PageReplies::Access;

  void Enter() {
    client_ = std::make_unique<Client>(engine_.clients().NextId(), request_->peer, request_->own,
                                       engine_.store().now(), [] {});
    engine_.clients().Attach(*client_);
    client_->reply.set_most_bytes(kMostPageReplyBytes);
    client_->name = "page";
    result_.access = CheckAccess();
  }

  Access CheckAccess() {
    AccessControl& access = engine_.access();
    if (!request_->has_login && !access.DefaultIsOpen()) return Access::kDenied;
    if (!access.Authenticate(*client_, request_->user, request_->password, "auth",
                             engine_.store().now())) {
      return Access::kDenied;
    }
    if (!client_->user()->takes_any_password()) return Access::kGranted;
    const bool from_outside = engine_.settings().protected_mode && !request_->is_local;
    return from_outside || !request_->by_own_name ? Access::kProtected : Access::kGranted;
  }

  void Run(const std::vector<std::string>& words) {
    result_.replies.emplace_back();
    const std::vector<std::string_view> argv(words.begin(), words.end());
    if (used_ > kMostPageReplyBytes) return Refuse("the replies are too long");
    if (client_->connection.close_now) return Refuse("the connection was closed");
    const Command* const command = engine_.commands().Find(argv);
    if (command != nullptr && !MayRunOnPage(*command)) {
      return Refuse("'" + std::string(command->name) + "' is not a read-only command");
    }
    engine_.executor().Execute(*client_, argv);
    if (client_->IsWaiting() && !client_->connection.close_now) {
      engine_.clients().Disconnect(*client_);
      return Refuse("the server is paused");
    }
    Collect();
  }

  void Refuse(const std::string& why) { result_.replies.back() = "-ERR " + why + "\r\n"; }

  void Collect() {
    if (client_->connection.close_now) {
      return Refuse("the reply is too long, or the connection was closed");
    }
    const std::string_view output = client_->output.buffer.view();
    used_ += output.size();
    result_.replies.back() += output;
    client_->output.buffer.Clear();
    if (used_ <= kMostPageReplyBytes) return;
    engine_.clients().EndLongReply(*client_);
    Refuse("the replies are too long");
  }

  void Leave() {
    engine_.clients().Detach(*client_);
    client_.reset();
    done_(std::move(result_));
  }

  Engine& engine_;
  std::shared_ptr<const PageRequest> request_;
  std::function<void(PageReplies)> done_;
  std::unique_ptr<Client> client_;
  PageReplies result_;
  size_t next_ = 0;  // the index of the next command
  size_t used_ = 0;  // the bytes of the replies
};

}  // namespace

void RunPageCommands(Engine& engine, std::shared_ptr<const PageRequest> request,
                     const PostStep& post, std::function<void(PageReplies)> done) {
  auto running = std::make_shared<Running>(engine, std::move(request), std::move(done));
  post([running] { return running->Step(); });
}

bool MayRunOnPage(const Command& command) {
  if (command.inspects) return true;
  return command.Has(kReadOnly) && !command.HasAny(kWrite | kBlocking | kMayReplicate) &&
         command.group != CommandGroup::kScripting;
}

}  // namespace zsetd
