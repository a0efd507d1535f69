#!/bin/sh
# Runs the jobs of sidekiq_jobs.rb: one process as the Sidekiq server, one as the client.
set -eu
cd "$(dirname "$0")"
sidekiq -r ./sidekiq_jobs.rb -c 2 -t 1 >/dev/null 2>&1 &
worker=$!
trap 'kill $worker 2>/dev/null; wait $worker 2>/dev/null || true' EXIT
SIDEKIQ_CLIENT=1 ruby sidekiq_jobs.rb
