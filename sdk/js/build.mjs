// Writes dist: the client as one file, and its types.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

process.chdir(import.meta.dirname);
rmSync("dist", { recursive: true, force: true });
const tsc = process.platform === "win32" ? "node_modules/.bin/tsc.cmd" : "node_modules/.bin/tsc";
execFileSync(tsc, ["--emitDeclarationOnly"], { stdio: "inherit" });
const published = ["index.d.ts", "checkout.d.ts", "types.d.ts"];
for (const name of readdirSync("dist")) if (!published.includes(name)) rmSync("dist/" + name);
const { version, license } = JSON.parse(readFileSync("package.json", "utf8"));
await build({
  entryPoints: ["src/index.ts"],
  outfile: "dist/paylatch.js",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2020",
  legalComments: "none",
  banner: { js: `/*! paylatch ${version}, ${license} */` },
});

// A machine without Node can still tell whether dist was built from these sources.
const inputs = [...readdirSync("src").map((name) => "src/" + name), "build.mjs", "package.json", "package-lock.json", "tsconfig.json"];
const all = [...inputs, ...readdirSync("dist").map((name) => "dist/" + name)].sort();
const lines = all.map((name) => createHash("sha256").update(readFileSync(name)).digest("hex") + "  " + name + "\n");
writeFileSync("built.sha256", lines.join(""));
