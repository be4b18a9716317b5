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
