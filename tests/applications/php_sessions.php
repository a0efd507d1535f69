<?php
// Sessions of PHP with locking: the second request for a session waits for the first.

$port = getenv('PORT');
ini_set('session.save_handler', 'redis');
ini_set('session.save_path', "tcp://127.0.0.1:$port");
ini_set('redis.session.locking_enabled', '1');
ini_set('redis.session.lock_retries', '3');
ini_set('redis.session.lock_wait_time', '20000');
ini_set('session.use_cookies', '0');
ini_set('session.cache_limiter', '');

function check($holds, $what) {
    if ($holds) return;
    fwrite(STDERR, "wrong: $what\n");
    exit(1);
}

$redis = new Redis();
$redis->connect('127.0.0.1', (int)$port);
$redis->flushAll();

session_id('one');
check(@session_start(), 'the session starts');
$_SESSION['count'] = 1;
$lock = 'PHPREDIS_SESSION:one_LOCK';
check($redis->exists($lock), 'the session is locked');
session_write_close();
check(!$redis->exists($lock), 'the lock is released');
check(@session_start(), 'the session starts again');
check($_SESSION['count'] === 1, 'the session is kept');
session_write_close();

check($redis->eval('return {KEYS[1], ARGV[1]}', ['key', 'argument'], 1) === ['key', 'argument'], 'eval');
$sha = $redis->script('load', 'return 7');
check($redis->evalSha($sha) === 7, 'evalSha');
