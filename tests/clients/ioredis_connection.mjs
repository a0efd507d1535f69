// ioredis connects, sets its client info, and reconnects after its connection was cut.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';

import Redis from 'ioredis';

import { isZsetd, port } from './support.mjs';

async function connected(options, use) {
  const redis = new Redis({ port, ...options });
  try {
    await use(redis);
  } finally {
    await redis.quit();
  }
}

test('first commands print no warning', () => {
  const steps = `
    import Redis from 'ioredis';
    const redis = new Redis(${port});
    console.log(await redis.zadd('connection:first', 1, 'x'));
    await redis.quit();`;
  const script = ['--input-type=module', '--trace-warnings', '--eval', steps];
  const { stdout, stderr } = spawnSync(process.execPath, script, {
    cwd: new URL('.', import.meta.url), encoding: 'utf8' });
  assert.deepEqual({ stdout, stderr }, { stdout: '1\n', stderr: '' });
});

for (const protocol of [2, 3]) {
  test(`RESP${protocol} is spoken when asked for`, () =>
    connected({ protocol, connectionName: 'painter', db: 3 }, async (redis) => {
      const info = await redis.client('INFO');
      for (const claim of [`resp=${protocol}`, 'name=painter', 'db=3']) {
        assert.ok(info.trim().split(' ').includes(claim), `${claim} in ${info}`);
      }
    }));
}

test('RESP3 is the default protocol', () =>
  connected({}, async (redis) => assert.match(await redis.client('INFO'), / resp=3\b/)));

test('replies keep their RESP3 meaning', () =>
  connected({ replyMapping: 'resp3' }, async (redis) => {
    await redis.zadd('connection:scores', 1.5, 'x');
    assert.equal(await redis.zscore('connection:scores', 'x'), 1.5);
    assert.equal((await redis.hello()).proto, 3);
  }));

test('both loopback addresses accept clients', async () => {
  for (const host of ['127.0.0.1', '::1']) {
    await connected({ host }, async (redis) => assert.equal(await redis.ping(), 'PONG'));
  }
});

test('the library reports its name', { skip: isZsetd ? false : 'new in Redis 7.2' }, () =>
  connected({}, async (redis) =>
    assert.match(await redis.client('INFO'), / lib-name=ioredis lib-ver=6\.0\.0\b/)));

test('a killed client connects again', () =>
  connected({}, (redis) =>
    connected({}, async (killer) => {
      const first = await redis.client('ID');
      assert.equal(await killer.client('KILL', 'ID', first), 1);
      assert.equal(await redis.ping(), 'PONG');
      assert.notEqual(await redis.client('ID'), first);
    })));
