#pragma once

namespace zsetd {

class AdminCall;

// HELP of every command with subcommands: their usage and summaries, from their rows.
void Help(AdminCall& call);

}  // namespace zsetd
