# Sidekiq: jobs immediately, later, and again after a failure.

require "sidekiq"
require "sidekiq/api"
require "sidekiq/cli"

url = { url: "redis://127.0.0.1:#{ENV.fetch("PORT")}/0" }
Sidekiq.configure_client { |config| config.redis = url }
Sidekiq.configure_server do |config|
  config.redis = url
  config.average_scheduled_poll_interval = 1 if config.respond_to?(:average_scheduled_poll_interval=)
end
Sidekiq.logger.level = Logger::ERROR

class Work
  include Sidekiq::Worker
  sidekiq_options retry: 3
  sidekiq_retry_in { |_| 1 }

  def perform(name)
    failed = Sidekiq.redis { |redis| redis.incr("tries:#{name}") }
    raise "not yet" if name == "failing" && failed < 2
    Sidekiq.redis { |redis| redis.rpush("done", name) }
  end
end

if ENV["SIDEKIQ_CLIENT"]
  Sidekiq.redis { |redis| redis.flushall }
  Work.perform_async("now")
  Work.perform_in(1, "later")
  Work.perform_async("failing")
  deadline = Time.now + 60
  done = []
  while done.size < 3 && Time.now < deadline
    sleep 0.1
    done = Sidekiq.redis { |redis| redis.lrange("done", 0, -1) }
  end
  abort "wrong: #{done}" unless done.sort == %w[failing later now]
  abort "wrong: queue" unless Sidekiq::Queue.new.size.zero?
  Sidekiq::Stats.new.processed
end
