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
  if (xhr.status > 0 && xhr.status < 400) return;
  if (target.id !== "found") return location.assign(pathInfo.requestPath);
  const page = new DOMParser().parseFromString(xhr.responseText, "text/html");
  target.textContent = page.querySelector("[role=alert]")?.textContent ?? "No answer came. Wait a moment, then press Search.";
};
document.addEventListener("htmx:beforeSwap", failed);
document.addEventListener("htmx:sendError", failed);
