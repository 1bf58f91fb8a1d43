// SPDX-License-Identifier: Apache-2.0
// What node does under probes: sorting, JSON, regular expressions, promises, compression, hashes, worker threads.
const crypto = require("crypto");
const zlib = require("zlib");
const { Worker } = require("worker_threads");

const rounds = Number(process.argv[2] || 1);
let seed = 7;
const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648);
const numbers = Array.from({ length: 2000 * rounds }, next);
const text = JSON.stringify([...numbers].sort((a, b) => a - b).map((n) => ({ n, t: String(n) })));
console.log(crypto.createHash("sha256").update(text).digest("hex"));
console.log(JSON.parse(text).filter((o) => /^1\d*7$/.test(o.t)).length);
const packed = zlib.deflateSync(text);
console.log(zlib.inflateSync(packed).toString() === text, crypto.createHash("md5").update(packed).digest("hex"));
try { null.f(); } catch (error) { console.log(error instanceof TypeError); }
const work = "require('worker_threads').parentPort.postMessage([...Array(5000).keys()].reduce((a, b) => a + b * b % 7, 0))";
const workers = Array.from({ length: 2 }, () => new Promise((resolve, reject) => {
  new Worker(work, { eval: true }).on("message", resolve).on("error", reject);
}));
Promise.all([...workers, new Promise((resolve) => setTimeout(resolve, 5, "late"))]).then((all) => console.log(all));
