// ioredis's Cluster on a static cluster: node ioredis_cluster.mjs PORT. Fails with an exit code.
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const require = createRequire(new URL("../clients/", import.meta.url));
const { Cluster } = require("ioredis");

const cluster = new Cluster([{ host: "127.0.0.1", port: Number(process.argv[2]) }]);
try {
  for (let i = 0; i < 500; ++i) await cluster.zadd(`key:${i}`, i, "member");
  for (let i = 0; i < 500; ++i) {
    assert.equal(await cluster.zscore(`key:${i}`, "member"), String(i));
  }
  const pipeline = cluster.pipeline();
  for (let i = 0; i < 10; ++i) pipeline.set(`{tag}:${i}`, i);
  for (const [error, reply] of await pipeline.exec()) {
    assert.equal(error, null);
    assert.equal(reply, "OK");
  }
  assert.equal(await cluster.mget("{tag}:1", "{tag}:2").then((found) => found.join()), "1,2");
  await assert.rejects(cluster.mget("a", "b"), /CROSSSLOT/);
  assert.equal(cluster.nodes("master").length, 3);
} finally {
  cluster.disconnect();
}
