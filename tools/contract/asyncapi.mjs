// Validates the AsyncAPI documents that it is given. Anything that the parser reports is a failure, a hint too.
import { readFileSync } from "node:fs";
import { Parser } from "@asyncapi/parser";

for (const source of process.argv.slice(2)) {
  const { document, diagnostics } = await new Parser().parse(readFileSync(source, "utf8"), { source });
  for (const d of diagnostics) console.error(`${source}: ${d.path.join(".")}: ${d.code}: ${d.message}`);
  if (!document || diagnostics.length) process.exitCode = 1;
}
