// Writes dist: the client as one file, its hook for React, the client of servers, and the types of all three.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

process.chdir(import.meta.dirname);
rmSync("dist", { recursive: true, force: true });
const tsc = process.platform === "win32" ? "node_modules/.bin/tsc.cmd" : "node_modules/.bin/tsc";
execFileSync(tsc, ["--emitDeclarationOnly"], { stdio: "inherit" });
const published = ["index.d.ts", "checkout.d.ts", "types.d.ts", "react.d.ts", "server"];
for (const name of readdirSync("dist")) if (!published.includes(name)) rmSync("dist/" + name);
const { version, license } = JSON.parse(readFileSync("package.json", "utf8"));
const common = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2020",
  legalComments: "none",
  banner: { js: `/*! paylatch ${version}, ${license} */` },
};
await build({ ...common, entryPoints: ["src/index.ts"], outfile: "dist/paylatch.js" });
// The hook has neither React nor a second client in it.
const client = { name: "client", setup: (b) => b.onResolve({ filter: /^\.\/index\.js$/ }, () => ({ path: "./paylatch.js", external: true })) };
await build({ ...common, entryPoints: ["src/react.ts"], outfile: "dist/react.js", external: ["react"], plugins: [client] });
// A server's stack traces are easier to read without minification.
await build({ ...common, minify: false, target: "node18", entryPoints: ["src/server/index.ts"], outfile: "dist/server.js", external: ["node:crypto"] });

// A machine without Node can still tell whether dist was built from these sources.
const filesOf = (dir) => readdirSync(dir, { withFileTypes: true }).flatMap((f) => (f.isDirectory() ? filesOf(`${dir}/${f.name}`) : `${dir}/${f.name}`));
const all = [...filesOf("src"), "build.mjs", "package.json", "package-lock.json", "tsconfig.json", ...filesOf("dist")].sort();
const lines = all.map((name) => createHash("sha256").update(readFileSync(name)).digest("hex") + "  " + name + "\n");
writeFileSync("built.sha256", lines.join(""));
