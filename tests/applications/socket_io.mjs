// Servers of socket.io that exchange messages through a stream.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { createAdapter } from "@socket.io/redis-streams-adapter";
import { Redis } from "ioredis";
import { Server } from "socket.io";
import { io as connectTo } from "socket.io-client";
import { connection, emptyServer, eventually } from "./support.mjs";

const STREAM = "socket.io";

let redis;
before(async () => (redis = await emptyServer()));
after(() => redis.quit());

// Starts a server with a client.
async function startNode() {
  const client = new Redis({ ...connection, maxRetriesPerRequest: null });
  const http = createServer();
  const server = new Server(http, {
    adapter: createAdapter(client, { streamName: STREAM, blockTimeInMs: 200 }),
    connectionStateRecovery: { maxDisconnectionDuration: 60_000 },
  });
  await new Promise((done) => http.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${http.address().port}`;
  const socket = connectTo(url, { transports: ["websocket"], reconnectionDelay: 10, forceNew: true });
  const received = [];
  const isEntryId = (word) => /^\d+-\d+$/.test(word); // added for the recovery of the connection
  socket.on("news", (...words) => received.push(words.filter((word) => !isEntryId(word))));
  await new Promise((done) => socket.on("connect", done));
  return {
    server,
    socket,
    received,
    stop: async () => {
      socket.close();
      await server.close();
      await client.quit();
    },
  };
}

test("servers send messages to the clients of all servers, and to those in a room", async () => {
  const nodes = [await startNode(), await startNode(), await startNode()];
  try {
    const [first, second, third] = nodes;
    first.server.emit("news", 1, "of all", Buffer.from([0, 255]));
    for (const { received } of nodes) {
      assert.ok(await eventually(() => received.length === 1));
      assert.deepEqual(received[0], [1, "of all", Buffer.from([0, 255])]);
    }
    for (const [, socket] of second.server.sockets.sockets) await socket.join("room");
    third.server.to("room").emit("news", 2);
    assert.ok(await eventually(() => second.received.length === 2));
    for (let i = 0; i < 300; ++i) third.server.emit("news", i);
    for (const { received } of nodes) {
      assert.ok(await eventually(() => received.at(-1)[0] === 299));
      assert.deepEqual(received.slice(-300), Array.from({ length: 300 }, (_, i) => [i]));
    }
    assert.equal((await first.server.fetchSockets()).length, 3);
    for (const { socket } of nodes) socket.on("question", (reply) => reply(socket.id));
    const answers = await third.server.timeout(10_000).emitWithAck("question");
    assert.deepEqual(answers.sort(), nodes.map(({ socket }) => socket.id).sort());
    assert.ok((await redis.xlen(STREAM)) > 300);
  } finally {
    for (const node of nodes) await node.stop();
  }
});

test("a client that connects again receives the messages that it missed", async () => {
  const node = await startNode();
  try {
    node.server.emit("news", "before");
    assert.ok(await eventually(() => node.received.length === 1));
    const id = node.socket.id;
    node.socket.io.engine.close();
    node.server.emit("news", "missed");
    assert.ok(await eventually(() => node.socket.connected && node.socket.recovered));
    assert.equal(node.socket.id, id);
    assert.ok(await eventually(() => node.received.length === 2));
    assert.deepEqual(node.received[1], ["missed"]);
  } finally {
    await node.stop();
  }
});
