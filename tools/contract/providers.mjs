// Compares what the adapters sent in their tests, and what their fakes answered, with the providers' own API descriptions, by Prism.
//
//   node providers.mjs RECORDINGS DESCRIPTIONS STRIPE PAGE [-update]
//
// RECORDINGS has a file KIND.jsonl for each adapter, see internal/provider/providertest/record.go. STRIPE is Stripe's description. Stripe's own
// server checks the requests to Stripe in a test; here only their members are compared. PAGE has the table of
// the calls, with the source that confirms each member; -update writes it.
import { readFileSync, existsSync, writeFileSync, readdirSync } from "node:fs";
import yaml from "yaml";
import { parse as parseQuery } from "node:querystring";
import * as TE from "fp-ts/lib/TaskEither.js";
import { createInstance, getHttpOperationsFromSpec } from "@stoplight/prism-http";

// odd are tests that send, or answer, something else than the description has, with the reason.
const odd = JSON.parse(readFileSync(new URL("odd.json", import.meta.url), "utf8"));
const [recordings, descriptions, stripe, table, update] = process.argv.slice(2);
const kinds = JSON.parse(readFileSync(new URL("providers.json", import.meta.url), "utf8"));
const quiet = { info() {}, warn() {}, error() {}, debug() {}, success() {}, trace() {}, child: () => quiet };

// exchanges are the distinct lines of a recording, for each test.
function exchanges(kind) {
  const all = new Map();
  for (const line of readFileSync(`${recordings}/${kind}.jsonl`, "utf8").split("\n")) {
    if (!line) continue;
    const { test, ...rest } = JSON.parse(line);
    const key = JSON.stringify([test.split("/")[0], rest]).replace(/[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/g, "ID");
    if (!all.has(key)) all.set(key, { test, ...rest });
  }
  return [...all.values()];
}

const form = (x) => (x.header["Content-Type"] ?? "").includes("form-urlencoded");
const template = (path) => new RegExp("^" + path.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{[^}]+\}/g, "[^/]+") + "$");

// described reads a description, with the paths of these exchanges only.
function described({ file, prefix = "" }, exchanges) {
  const text = readFileSync(file === "stripe" ? stripe : `${descriptions}/${file}`, "utf8");
  const doc = file.endsWith(".yaml") ? yaml.parse(text) : JSON.parse(text);
  delete doc.webhooks;
  doc.servers = [];
  const paths = {};
  for (const [path, item] of Object.entries(doc.paths)) {
    const whole = template(prefix + path);
    if (!exchanges.some((x) => whole.test(x.path))) continue;
    for (const operation of Object.values(item)) if (operation?.servers) operation.servers = [];
    delete item.servers;
    paths[prefix + path] = item;
  }
  doc.paths = paths;
  repair(doc, doc, new Set());
  return { ...doc, components: used(doc) };
}

const at = (doc, ref) => ref.slice(2).split("/").reduce((part, name) => part?.[name.replaceAll("~1", "/").replaceAll("~0", "~")], doc);

// choices are the schemas that a discriminator chooses from.
const choices = (schema) => Object.values(schema.discriminator?.mapping ?? {}).filter((ref) => ref.startsWith?.("#/"));

// repair removes what keeps Prism from reading a description: T-Bank's has a number as the default of a string, and Square's refers to
// schemas that it does not have. It goes from the paths to all that they refer to.
function repair(part, doc, seen) {
  if (!part || typeof part !== "object" || seen.has(part)) return;
  seen.add(part);
  if (part === doc) return repair(part.paths, doc, seen);
  if (part.oneOf) { // the alternatives of some descriptions overlap
    part.anyOf = part.oneOf;
    delete part.oneOf;
  }
  if (part.type === "string" && typeof part.default === "number") delete part.default;
  if (typeof part.$ref === "string") {
    const target = part.$ref.startsWith("#/") ? at(doc, part.$ref) : undefined;
    if (target === undefined) delete part.$ref;
    else if (target.in) delete part.schema; // what stands beside a reference is ignored
    repair(target, doc, seen);
  }
  for (const ref of choices(part)) repair(at(doc, ref), doc, seen);
  Object.values(part).forEach((inner) => repair(inner, doc, seen));
}

// used are the components that the paths refer to.
function used(doc) {
  const components = {}, seen = new Set();
  const walk = (part) => {
    if (!part || typeof part !== "object" || seen.has(part)) return;
    seen.add(part);
    for (const ref of [...choices(part), ...(typeof part.$ref === "string" ? [part.$ref] : [])]) {
      const [, , kind, name] = ref.split("/");
      if (!doc.components[kind]?.[name]) continue;
      (components[kind] ??= {})[name] = doc.components[kind][name];
      walk(doc.components[kind][name]);
    }
    Object.values(part).forEach(walk);
  };
  walk(doc.paths);
  return components;
}

function bodyOf(header, text) {
  if (!text) return undefined;
  if ((header["Content-Type"] ?? "").includes("form-urlencoded")) return text;
  try { return JSON.parse(text); } catch { return text; }
}

const anID = (v) => v.path?.[0] === "path" || (/(^id|_id|Id)$/.test(v.path?.at(-1)) && /must match pattern|characters/.test(v.message));

const lower = (header) => Object.fromEntries(Object.entries(header).map(([k, v]) => [k.toLowerCase(), v]));

// oddly reports whether an exchange is one of odd.json.
const usedOdd = new Set();
function oddly(kind, x, path, side) {
  const names = [`${x.test.split("/")[0]} ${side}`, `${x.method} ${path} ${side}`];
  const name = names.find((n) => odd[kind]?.[n]);
  if (name) usedOdd.add(`${kind}: ${name}`);
  return name !== undefined;
}

// Headers that every request has, and credentials.
const plain = new Set(["accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "host", "user-agent", "x-api-key"]);

// members are the names of all that a request carries: members of the body, parameters of the query (?) and headers (#).
function members(x) {
  const names = new Set();
  const walk = (value, path) => {
    if (Array.isArray(value)) value.forEach((item) => walk(item, [...path, "[]"]));
    else if (value && typeof value === "object") Object.entries(value).forEach(([k, v]) => walk(v, [...path, k]));
    else if (path.length) names.add(path.join("."));
  };
  if (form(x)) for (const name of Object.keys(parseQuery(x.body ?? ""))) names.add(name.replaceAll("[]", "[0]").replace(/\[(\w+)\]/g, (_, k) => (/^\d+$/.test(k) ? ".[]" : "." + k)));
  else walk(bodyOf(x.header, x.body), []);
  for (const name of Object.keys(parseQuery(x.query ?? ""))) names.add("?" + name);
  for (const name of Object.keys(lower(x.header))) if (!plain.has(name)) names.add("#" + name);
  return names;
}

// confirms reports whether a schema has a member. A schema without members allows any, such as metadata.
function confirms(doc, schema, path, depth = 0) {
  if (!schema || depth > 60) return false;
  if (schema.$ref) return confirms(doc, at(doc, schema.$ref), path, depth + 1);
  if (!path.length) return true;
  const [name, ...rest] = path;
  const inner = name === "[]" ? schema.items : schema.properties?.[name];
  if (inner && confirms(doc, inner, rest, depth + 1)) return true;
  const others = [...(schema.allOf ?? []), ...(schema.anyOf ?? []), ...choices(schema).map((ref) => at(doc, ref))];
  if (others.some((other) => confirms(doc, other, path, depth + 1))) return true;
  if (name === "[]") return false;
  return schema.additionalProperties ? true : !schema.properties && !others.length;
}

// count adds the members of a request to those of its call.
function count(calls, docs, x) {
  for (const doc of docs) {
    for (const [path, item] of Object.entries(doc.paths)) {
      const operation = item[x.method.toLowerCase()];
      if (!operation || !template(path).test(x.path)) continue;
      const call = `${x.method} ${path}`;
      if (!calls.has(call)) calls.set(call, new Map());
      const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((p) => (p.$ref ? at(doc, p.$ref) : p));
      const body = operation.requestBody?.$ref ? at(doc, operation.requestBody.$ref) : operation.requestBody;
      const schemas = Object.values(body?.content ?? {}).map((c) => c.schema);
      for (const name of members(x)) {
        const bare = name.slice(1).replace(/\[.*/, "");
        const known = name[0] === "?" ? parameters.some((p) => p.in === "query" && p.name.replace(/\[.*/, "") === bare)
          : name[0] === "#" ? parameters.some((p) => p.in === "header" && p.name.toLowerCase() === bare)
          : schemas.some((schema) => confirms(doc, schema, name.split(".")));
        calls.get(call).set(name, known);
      }
      return;
    }
  }
  const call = `${x.method} ${x.path.replace(/\/([^/]*[0-9_][^/]{3,}|[0-9]+)(?=\/|$)/g, "/*").replace(/\/in-0$/, "/*")}`;
  if (!calls.has(call)) calls.set(call, new Map());
  for (const name of members(x)) calls.get(call).set(name, false);
}

async function checkKind(kind, documents) {
  const all = exchanges(kind), found = new Map();
  let checked = 0, undescribed = new Map();
  const docs = documents.map((d) => described(d, all));
  const calls = new Map();
  for (const x of all) {
    if (!x.path.includes("%") && !x.path.includes("//") && (x.test.startsWith("TestCarries") || !oddly(kind, x, x.path, "request"))) count(calls, docs, x);
  }
  if (kind === "stripe") return { all, checked, found, undescribed, calls };
  const operations = (await Promise.all(docs.map((d) => getHttpOperationsFromSpec(d)))).flat();
  for (const x of all) {
    if (x.path.includes("%")) continue; // a hostile id of the suite
    const operation = operations.find((o) => o.method.toUpperCase() === x.method && template(o.path).test(x.path));
    if (!operation) {
      const name = `${x.method} ${x.path}`;
      undescribed.set(name, (undescribed.get(name) ?? 0) + 1);
      continue;
    }
    checked++;
    const body = bodyOf(x.header, x.body);
    const answer = bodyOf(x.response.header, x.response.body);
    const prism = createInstance(
      { isProxy: true, upstream: new URL("http://replayed"), validateRequest: true, validateResponse: x.fake, checkSecurity: false, errors: false, mock: {} },
      {
        logger: quiet,
        route: () => ({ _tag: "Right", right: operation }),
        forward: () => () => TE.right({ statusCode: x.response.status, headers: lower(x.response.header), body: answer }),
      },
    );
    const result = await prism.request(
      { method: x.method.toLowerCase(), url: { path: x.path, query: parseQuery(x.query ?? "") }, headers: lower(x.header), body }, operations,
    )();
    if (result._tag === "Left") throw result.left;
    const { input, output } = result.right.validations;
    for (const [side, list] of [["request", input], ["response", output]]) {
      // An error status may be missing in a description, and the tests' ids have forms of their own.
      const wrong = list.filter((v) => v.severity === 0 && !anID(v)).map((v) => `${(v.path ?? []).join(".")}: ${v.message}`);
      if (!wrong.length) continue;
      if (oddly(kind, x, operation.path, side)) continue;
      // Of the alternatives of a schema each has its own complaints.
      const shown = wrong.length > 5 ? [...wrong.slice(0, 5), `and ${wrong.length - 5} more`] : wrong;
      const what = `${x.method} ${operation.path}: ${side}${side === "response" ? " " + x.response.status : ""}:\n    ${shown.join("\n    ")}`;
      if (!found.has(what + x.test.split("/")[0])) found.set(what + x.test.split("/")[0], { what, test: x.test, text: side === "request" ? `${x.query ?? ""} ${x.body ?? ""}` : x.response.body });
    }
  }
  return { all, checked, found, undescribed, calls };
}

let failed = false;
const rows = [];
const head = "| kind | call | members | by the description | by another source | by nobody |\n|---|---|---|---|---|---|\n";
// sources are other sources than descriptions, by the names of members.
const sources = JSON.parse(readFileSync(new URL("sources.json", import.meta.url), "utf8"));
const sourceOf = (kind, name) => Object.entries(sources[kind] ?? {}).find(([names]) => names.split(" ").includes(name))?.[1] ?? "nobody";
for (const file of readdirSync(recordings).sort()) {
  const kind = file.replace(/\.jsonl$/, "");
  const documents = kinds[kind];
  if (!documents) { console.log(`${kind}: skipped, the provider publishes no description`); continue; }
  const { all, checked, found, undescribed, calls } = await checkKind(kind, documents);
  rows.push(...[...calls].sort(([a], [b]) => (a < b ? -1 : 1)).map(([call, names]) => {
    const others = [...names].filter(([, known]) => !known).map(([name]) => name).sort();
    const by = new Map();
    for (const name of others) {
      const source = sourceOf(kind, name);
      by.set(source, [...(by.get(source) ?? []), `\`${name}\``]);
    }
    const elsewhere = [...by].filter(([source]) => source !== "nobody").map(([source, list]) => `${source}: ${list.join(", ")}`).join("; ");
    return `| \`${kind}\` | \`${call}\` | ${names.size} | ${names.size - others.length} | ${elsewhere || "–"} | ${by.get("nobody")?.join(", ") ?? "–"} |`;
  }));
  if (kind === "stripe") { console.log(`stripe: ${all.length} distinct exchanges, checked by stripe-mock`); continue; }
  console.log(`${kind}: ${checked} of ${all.length} distinct exchanges checked, ${found.size} differences`);
  for (const { what, test, text } of found.values()) {
    failed = true;
    console.log(`  ${what}\n    in ${test}: ${text}`);
  }
  const names = new Set([...undescribed.keys()].map((p) => p.replace(/\/([^/]*[0-9_][^/]{3,}|[0-9]+)(?=\/|$)/g, "/*")));
  for (const n of names) console.log("  not described:", n);
}
for (const [kind, reasons] of Object.entries(odd)) {
  for (const reason of Object.keys(reasons)) {
    if (existsSync(`${recordings}/${kind}.jsonl`) && !usedOdd.has(`${kind}: ${reason}`)) { failed = true; console.log(`odd.json: ${kind}: ${reason} does not occur`); }
  }
}
const page = readFileSync(table, "utf8");
const current = page.replace(/(<!-- calls:begin -->\n)[^]*(<!-- calls:end -->)/, (_, begin, end) => begin + head + rows.join("\n") + "\n" + end);
if (current !== page && update) writeFileSync(table, current);
else if (current !== page) { failed = true; console.log(`${table} is not current: run make providers ARGS=-update`); }
process.exitCode = failed ? 1 : 0;
