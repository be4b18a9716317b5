// The page works without this: all samples stand below each other then, and the contents are a disclosure.
const by = (id) => document.getElementById(id);
const make = (name, properties, ...children) => {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...children);
  return e;
};

const origin = by("origin");
if (origin) origin.textContent = location.origin;

// Tabs: the language that is chosen at one sample is that of all.
const stored = () => { try { return localStorage.getItem("language"); } catch { return null; } };
const store = (language) => { try { localStorage.setItem("language", language); } catch { /* it is chosen again then */ } };
const groups = [...document.querySelectorAll(".samples")].map((group) => {
  const parts = [...group.querySelectorAll(".sample")].map((panel) => {
    const heading = panel.querySelector("h4"), language = panel.dataset.language;
    const tab = make("button", { type: "button", id: heading.id, textContent: language });
    tab.setAttribute("role", "tab");
    panel.id = heading.id + "-panel";
    tab.setAttribute("aria-controls", panel.id);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    heading.remove();
    return { panel, tab, language };
  });
  const list = make("div", {}, ...parts.map(({ tab }) => tab));
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  group.prepend(list);
  list.addEventListener("click", ({ target }) => {
    const part = parts.find(({ tab }) => tab === target);
    if (part) choose(part.language, group);
  });
  list.addEventListener("keydown", (event) => {
    const at = parts.findIndex(({ tab }) => tab === document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + parts.length, Home: 0, End: parts.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const part = parts[to % parts.length];
    choose(part.language, group);
    part.tab.focus();
  });
  return { group, parts };
});

function select(language) {
  for (const { parts } of groups) {
    for (const part of parts) {
      const chosen = part.language === language;
      part.tab.setAttribute("aria-selected", String(chosen));
      part.tab.tabIndex = chosen ? 0 : -1;
      part.panel.hidden = !chosen;
    }
  }
}

/** Samples above have other heights then: the group that was pressed stays where it is. */
function choose(language, group) {
  const before = group.getBoundingClientRect().top;
  select(language);
  store(language);
  window.scrollBy({ top: group.getBoundingClientRect().top - before, behavior: "instant" });
}

const languages = groups[0]?.parts.map(({ language }) => language) ?? [];
select(languages.includes(stored()) ? stored() : languages[0]);

// Copying.
for (const pre of document.querySelectorAll("pre")) {
  const button = make("button", { type: "button", className: "copy secondary outline", textContent: "Copy" });
  pre.replaceWith(make("div", { className: "copied" }, button));
  button.after(pre);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(pre);
      button.textContent = "Selected";
    }
    by("heard").textContent = button.textContent;
    setTimeout(() => { button.textContent = "Copy"; by("heard").textContent = ""; }, 2000);
  });
}

// The contents are open beside the text and closed above it. What is typed leaves the headings that have all its words.
const contents = by("contents"), find = by("find"), query = by("query");
if (contents) {
  const wide = matchMedia("(min-width: 64rem)");
  const arrange = () => { contents.open = wide.matches || query.value !== ""; };
  wide.addEventListener("change", arrange);
  arrange();
  find.hidden = false;
  const links = [...contents.querySelectorAll("a")];
  const text = new Map(links.map((a) => [a, (a.textContent + " " + (a.dataset.find ?? "")).toLowerCase()]));
  const visible = () => links.filter((a) => a.checkVisibility());
  query.addEventListener("input", () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = new Set(links.filter((a) => words.every((word) => text.get(a).includes(word))));
    for (const item of [...contents.querySelectorAll("li")].reverse()) {
      item.hidden = ![...item.querySelectorAll("a")].some((a) => fits.has(a));
    }
    arrange();
    by("heard").textContent = words.length === 0 ? "" : fits.size === 1 ? "1 heading" : fits.size + " headings";
    by("count").textContent = by("heard").textContent;
    best = [...fits][0];
  });
  let best;
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && best && query.value) {
      event.preventDefault();
      best.click();
      best.focus();
    }
  });
  contents.parentElement.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && query.value) {
      query.value = "";
      query.dispatchEvent(new Event("input"));
      query.focus();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const row = [query, ...visible()], at = row.indexOf(document.activeElement);
    if (at < 0) return;
    event.preventDefault();
    row[Math.min(Math.max(at + step, 0), row.length - 1)].focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
    event.preventDefault();
    query.focus();
  });
}
