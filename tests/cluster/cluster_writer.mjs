// A client of a cluster that adds members to sorted sets until its input ends it:
// node cluster_writer.mjs ioredis|node-redis PORT CHANNEL KEY...
//
// It also receives the messages of the shard channel. It replies to each line of its input with a
// line of JSON: "status" with the numbers so far and the errors, "end" with all acknowledged members
// as [key, member, milliseconds since 1970].
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const require = createRequire(new URL("../clients/", import.meta.url));
const [kind, port, channel, ...keys] = process.argv.slice(2);

const acknowledged = [];
const messages = [];
const errors = [];
const note = (error) => errors.push(String(error?.message ?? error));

const openers = {
  async ioredis() {
    const { Cluster } = require("ioredis");
    const cluster = new Cluster([{ host: "127.0.0.1", port: Number(port) }],
      { shardedSubscribers: true, clusterRetryStrategy: () => 50, retryDelayOnClusterDown: 50, retryDelayOnFailover: 50 });
    cluster.on("error", note);
    cluster.on("smessage", (_, message) => messages.push(message));
    await cluster.ssubscribe(channel);
    return { add: (key, member) => cluster.zadd(key, 1, member), end: () => cluster.disconnect() };
  },
  async "node-redis"() {
    const { createCluster } = require("redis");
    const cluster = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }],
      defaults: { socket: { reconnectStrategy: () => 50 } } });
    cluster.on("error", note);
    cluster.on("node-error", () => {});  // a node is killed by the test
    await cluster.connect();
    await cluster.sSubscribe(channel, (message) => messages.push(message));
    return { add: (key, member) => cluster.zAdd(key, { score: 1, value: member }), end: () => cluster.destroy() };
  },
};

const client = await openers[kind]();
let ends = false;

async function write() {
  for (let number = 0; !ends; ++number) {
    const key = keys[number % keys.length];
    const member = `${kind}:${number}`;
    try {
      await client.add(key, member);
      acknowledged.push([key, member, Date.now()]);
    } catch (error) {
      note(error);
      await sleep(5);
    }
    await sleep(1);
  }
}

const written = write();
for await (const line of createInterface({ input: process.stdin })) {
  if (line === "status") {
    console.log(JSON.stringify({ acknowledged: acknowledged.length, messages, errors }));
  } else {
    ends = true;
    await Promise.race([written, sleep(10_000)]);
    // exit() drops what a full pipe has not taken yet
    await new Promise((taken) => process.stdout.write(JSON.stringify(acknowledged) + "\n", taken));
    break;
  }
}
client.end();
process.exit();
