// node-redis connects, sets its client info, and reconnects after its connection was cut.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';

import { createClient } from 'redis';

import { isZsetd, port } from './support.mjs';

async function connected({ host, ...options }, use) {
  const redis = await createClient({ socket: { port, host }, ...options }).connect();
  try {
    await use(redis);
  } finally {
    await redis.close();
  }
}

const clientInfo = (redis) => redis.sendCommand(['CLIENT', 'INFO']);

test('first commands print no warning', () => {
  const steps = `
    import { createClient } from 'redis';
    const redis = await createClient({ url: 'redis://localhost:${port}' }).connect();
    console.log(await redis.zAdd('connection:first', { score: 1, value: 'x' }));
    await redis.close();`;
  const script = ['--input-type=module', '--trace-warnings', '--eval', steps];
  const { stdout, stderr } = spawnSync(process.execPath, script, {
    cwd: new URL('.', import.meta.url), encoding: 'utf8' });
  assert.deepEqual({ stdout, stderr }, { stdout: '1\n', stderr: '' });
});

for (const RESP of [2, 3]) {
  test(`RESP${RESP} is spoken when asked for`, () =>
    connected({ RESP, name: 'painter', database: 3 }, async (redis) => {
      const info = await clientInfo(redis);
      for (const claim of [`resp=${RESP}`, 'name=painter', 'db=3']) {
        assert.ok(info.trim().split(' ').includes(claim), `${claim} in ${info}`);
      }
    }));
}

test('RESP3 is the default protocol', () =>
  connected({}, async (redis) => assert.match(await clientInfo(redis), / resp=3\b/)));

test('replies keep their RESP3 meaning', () =>
  connected({}, async (redis) => {
    await redis.zAdd('connection:scores', { score: 1.5, value: 'x' });
    assert.equal(await redis.sendCommand(['ZSCORE', 'connection:scores', 'x']), 1.5);
    assert.equal((await redis.hello()).proto, 3);
  }));

test('both loopback addresses accept clients', async () => {
  for (const host of ['127.0.0.1', '::1']) {
    await connected({ host }, async (redis) => assert.equal(await redis.ping(), 'PONG'));
  }
});

test('the library reports its name', { skip: isZsetd ? false : 'new in Redis 7.2' }, () =>
  connected({}, async (redis) =>
    assert.match(await clientInfo(redis), / lib-name=node-redis lib-ver=6\.3\.1\b/)));

test('a killed client connects again', () =>
  connected({}, (redis) =>
    connected({}, async (killer) => {
      const lost = once(redis, 'error').catch((error) => error);
      const first = await redis.clientId();
      assert.equal(await killer.clientKill({ filter: 'ID', id: first }), 1);
      await lost;
      assert.equal(await redis.ping(), 'PONG');
      assert.notEqual(await redis.clientId(), first);
    })));
