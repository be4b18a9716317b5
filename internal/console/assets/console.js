// "/" leads to the search from everywhere.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) return;
  const box = document.querySelector("[data-search]");
  if (!box) return;
  event.preventDefault();
  box.focus();
  box.select();
});

// What fails says so. A search does in the place of what it would have found, so that nothing stands there that an earlier text has found; all
// else, on the page that a browser without scripts would have gone to.
const failed = ({ detail: { xhr, target, pathInfo } }) => {
  if (target.id === "today") return renewed(xhr);
  if (xhr.status > 0 && xhr.status < 400) return;
  if (target.id !== "found") return location.assign(pathInfo.requestPath);
  const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
  target.textContent = page.querySelector("[role=alert]")?.textContent ?? "No answer came. Wait a moment, then press Search.";
};
document.addEventListener("htmx:beforeSwap", failed);
document.addEventListener("htmx:sendError", failed);

// The numbers of the first page renew themselves, but not where nobody sees them. What was open stays open, and htmx keeps the focus by its id. Numbers that
// can't be renewed stay, and say that they are old.
let open = [];
const renewed = (xhr) => {
  if (xhr.status !== 200) return document.getElementById("today-late")?.removeAttribute("hidden");
  open = [...document.querySelectorAll("#today details[open]")].map((one) => one.id);
};
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt.id === "today" && document.hidden) event.preventDefault();
});
document.addEventListener("htmx:afterSwap", () => {
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  open = [];
});

// Beside each time in UTC stands that of the browser's own zone. Without this script, or where that zone is UTC, it is UTC alone.
const here = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });
const zone = new Intl.DateTimeFormat("en", { timeZoneName: "short" });
const local = (date) => {
  const [day, time] = here.format(date).split(" ");
  const name = zone.formatToParts(date).find((part) => part.type === "timeZoneName").value;
  return `${day === date.toISOString().slice(0, 10) ? "" : `${day} `}${time} ${name}`;
};
const foreign = (date) => !Number.isNaN(date.getTime()) && date.getTimezoneOffset() !== 0;
const stamp = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g;
const localize = (root) => {
  for (const time of root.querySelectorAll("time[datetime]:not([data-local])")) {
    const date = new Date(time.dateTime);
    if (!foreign(date)) continue;
    time.dataset.local = "";
    const beside = document.createElement("span");
    beside.className = "local";
    beside.textContent = local(date);
    time.after(" ", beside);
  }
  for (const element of root.querySelectorAll("#summary, .timeline .text")) {
    const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      walk.currentNode.data = walk.currentNode.data.replace(stamp, (text) => {
        const date = new Date(text.replace(" UTC", "Z").replace(" ", "T"));
        return foreign(date) ? `${text} (${local(date)})` : text;
      });
    }
  }
};

// An id and the summary can be copied with a press, where the browser lets a page write to the clipboard.
const copies = (root) => {
  for (const button of navigator.clipboard ? root.querySelectorAll(".copy[hidden]") : []) {
    const word = button.firstElementChild;
    button.hidden = false;
    button.addEventListener("click", async () => {
      const from = button.dataset.copyFrom && document.getElementById(button.dataset.copyFrom);
      const done = navigator.clipboard.writeText(from ? from.textContent : button.dataset.copy);
      word.textContent = await done.then(() => "Copied", () => "Not copied");
      setTimeout(() => { word.textContent = "Copy"; }, 2000);
    });
  }
};
localize(document);
copies(document);
document.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
  const root = document.getElementById(target.id)?.parentElement ?? document;
  localize(root);
  copies(root);
});
