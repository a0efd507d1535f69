#pragma once

namespace zsetd {

class AdminCall;

// Replies to the HELP subcommand of any command: the usage and summary of each subcommand, from its
// row.
void Help(AdminCall& call);

}  // namespace zsetd
