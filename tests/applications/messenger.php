<?php
// Symfony Messenger with the transport for Redis: a stream with a group. Messages are acknowledged,
// rejected, delayed, delivered again when a worker has died, and kept within a length.

require 'Symfony/Component/Messenger/autoload.php';
require 'Symfony/Component/Messenger/Bridge/Redis/autoload.php';

use Symfony\Component\Messenger\Bridge\Redis\Transport\Connection;
use Symfony\Component\Messenger\Bridge\Redis\Transport\RedisTransportFactory;
use Symfony\Component\Messenger\Envelope;
use Symfony\Component\Messenger\Stamp\DelayStamp;
use Symfony\Component\Messenger\Transport\Serialization\PhpSerializer;

$port = getenv('PORT');

final class Order
{
    public function __construct(public string $name)
    {
    }
}

function check($holds, $what)
{
    if ($holds) return;
    fwrite(STDERR, "wrong: $what\n");
    exit(1);
}

function transport(string $consumer, array $options = [])
{
    global $port;
    $dsn = "redis://127.0.0.1:$port/orders/workers/$consumer";
    return (new RedisTransportFactory())->createTransport($dsn, $options, new PhpSerializer());
}

// Returns the next message in an array, which is empty if there is none. An unacknowledged message is
// the next one again.
function receive($transport): array
{
    return iterator_to_array($transport->get(), false);
}

function names(array $envelopes): array
{
    return array_map(fn (Envelope $envelope) => $envelope->getMessage()->name, $envelopes);
}

$redis = new Redis();
$redis->connect('127.0.0.1', (int) $port);
$redis->flushAll();

// Two consumers share the messages, each of which is delivered once.
$first = transport('first');
$second = transport('second');
$first->setup();
foreach (range(1, 50) as $i) $first->send(new Envelope(new Order("order $i")));
check($redis->xLen('orders') === 50, 'the number of messages');
$received = [];
for ($i = 0; $i < 25; ++$i) {
    foreach ([$first, $second] as $worker) {
        foreach ($worker->get() as $envelope) {
            $received[] = $envelope->getMessage()->name;
            $worker->ack($envelope);
        }
    }
}
sort($received, SORT_NATURAL);
check($received === array_map(fn ($i) => "order $i", range(1, 50)), 'each message once');
check($redis->xPending('orders', 'workers')[0] === 0, 'all are acknowledged');

// A rejected message is not delivered again.
$first->send(new Envelope(new Order('rejected')));
foreach (receive($first) as $envelope) $first->reject($envelope);
check(receive($second) === [] && $redis->xPending('orders', 'workers')[0] === 0, 'it is rejected');

// A delayed message waits in a sorted set.
$first->send(new Envelope(new Order('later'), [new DelayStamp(300)]));
check(receive($first) === [], 'the message waits');
$until = microtime(true) + 20;
do {
    $late = receive($first);
} while ($late === [] && microtime(true) < $until);
check(names($late) === ['later'], 'the delayed message');
foreach ($late as $envelope) $first->ack($envelope);

// A message of a worker that has died is claimed by another one.
$first->send(new Envelope(new Order('abandoned')));
check(names(receive($first)) === ['abandoned'], 'the first worker takes it');
unset($first);
$heir = transport('heir', ['redeliver_timeout' => 1, 'claim_interval' => 100]);
$until = microtime(true) + 20;
do {
    $claimed = receive($heir);
} while ($claimed === [] && microtime(true) < $until);
check(names($claimed) === ['abandoned'], 'the message is claimed');
foreach ($claimed as $envelope) $heir->ack($envelope);
check($redis->xPending('orders', 'workers')[0] === 0, 'nothing is pending');

// The stream is trimmed to about its greatest length.
$short = transport('short', ['stream_max_entries' => 100, 'delete_after_ack' => false]);
foreach (range(1, 1000) as $i) $short->send(new Envelope(new Order("order $i")));
check($redis->xLen('orders') < 300, 'old messages are trimmed');
