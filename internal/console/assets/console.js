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

// What a refused search says is shown in the place of what it would have found.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.xhr.status !== 429) return;
  const found = document.getElementById("found");
  if (found) found.textContent = "That was too often. Wait a moment, then press Search.";
});
