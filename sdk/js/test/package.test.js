import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

const at = (name) => new URL("../" + name, import.meta.url);
const dist = readFileSync(at("dist/paylatch.js"));

test("it is less than 9 KB on the wire", () => {
  const size = gzipSync(dist, { level: 9 }).length;
  assert.ok(size < 9 * 1024, `${size} bytes`);
});

test("it depends on nothing and brings its types", () => {
  const about = JSON.parse(readFileSync(at("package.json"), "utf8"));
  assert.equal(about.dependencies, undefined);
  assert.equal(about.license, "Apache-2.0");
  assert.doesNotMatch(dist.toString(), /\bimport\b|\brequire\(/);
  assert.match(readFileSync(at(about.types), "utf8"), /export declare function createCheckout/);
  for (const [, path] of readFileSync(at(about.types), "utf8").matchAll(/from "\.\/(\w+)\.js"/g)) readFileSync(at(`dist/${path}.d.ts`));
});

test("the hook has neither React nor a second client in it", () => {
  const react = readFileSync(at("dist/react.js"), "utf8");
  assert.deepEqual([...react.matchAll(/from"([^"]+)"/g)].map((m) => m[1]).sort(), ["./paylatch.js", "react"]);
  assert.ok(react.length < 2048, `${react.length} bytes`);
  const about = JSON.parse(readFileSync(at("package.json"), "utf8"));
  assert.equal(about.peerDependenciesMeta.react.optional, true);
  assert.match(readFileSync(at(about.exports["./react"].types), "utf8"), /export declare function useCheckout/);
});

test("no type of what the API answers takes any member", () => {
  assert.doesNotMatch(readFileSync(at("dist/types.d.ts"), "utf8"), /\[\w+: string\]|Record<string, (any|unknown)>/);
});

test("the name of the package leads to it", async () => {
  assert.equal(typeof (await import("paylatch")).createCheckout, "function");
});

test("the lock file names no place to download from", () => {
  assert.doesNotMatch(readFileSync(at("package-lock.json"), "utf8"), /"resolved"|https?:\/\/(?!github\.com|opencollective)/);
});
