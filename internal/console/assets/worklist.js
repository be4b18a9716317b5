// The worklist shows what others do meanwhile. A card is replaced only while it holds neither the focus nor typed text.
const every = 4000;
const cards = () => document.getElementById("cards");
const live = document.getElementById("live");

const tell = (text) => {
  if (live.textContent !== text) live.textContent = text;
};

const typed = (card) => [...card.querySelectorAll("textarea, input:not([type=hidden])")].some((field) => field.value !== field.defaultValue);
const inUse = (card) => card.contains(document.activeElement) || typed(card);

// mark adds below a card in use what has become of it.
const mark = (card, text) => {
  let news = card.querySelector(".meanwhile");
  if (!news) {
    news = document.createElement("p");
    news.className = "warning meanwhile";
    news.setAttribute("role", "status");
    card.append(news);
  }
  if (news.textContent !== text) news.textContent = text;
};

// merge puts what has come in the place of what stands there, card by card, and reports whether all of it stands there now.
const merge = (fresh) => {
  const here = cards();
  const next = new Map([...fresh.children].map((card) => [card.id, card]));
  let added = 0, gone = 0, whole = true;
  for (const card of [...here.children]) {
    if (next.has(card.id)) continue;
    if (card.id !== "nothing" && inUse(card)) {
      mark(card, "This is not on the list any more: it was resolved meanwhile, or does not match. What you typed is still here.");
      whole = false;
      continue;
    }
    if (card.id !== "nothing") gone++;
    card.remove();
  }
  let place = here.firstElementChild;
  for (const [id, card] of next) {
    while (place && !next.has(place.id)) place = place.nextElementSibling; // in use, and not on the list any more
    const old = document.getElementById(id);
    let stands = card;
    if (old && old.dataset.version === card.dataset.version) {
      stands = old;
      old.querySelector(".meanwhile")?.remove();
    } else if (old && inUse(old)) {
      stands = old;
      whole = false;
      mark(old, `This has changed meanwhile: ${card.dataset.news} What you typed is still here.`);
    } else if (old) {
      for (const part of old.querySelectorAll("details[data-part]")) {
        const same = card.querySelector(`details[data-part="${part.dataset.part}"]`);
        if (same) same.open = part.open;
      }
      if (place === old) place = old.nextElementSibling;
      old.remove();
    } else if (id !== "nothing") {
      added++;
    }
    if (place === stands) place = place.nextElementSibling;
    else here.insertBefore(stands, place);
  }
  if (added || gone) tell(`${new Date().toISOString().slice(11, 16)} UTC: ${added} new, ${gone} gone.`);
  return whole;
};

const look = async () => {
  const here = cards();
  if (document.hidden || !here.dataset.changes) return;
  const address = `${here.dataset.changes}&seen=${here.dataset.digest}`.replace("?&", "?");
  let answer;
  try {
    answer = await fetch(address, { redirect: "manual", headers: { accept: "text/html" } });
  } catch {
    return tell("This list can't be kept up to date at the moment. It is tried again.");
  }
  if (answer.status === 204) return live.textContent.startsWith("This list") && tell("");
  if (answer.status === 401) return tell("You are signed out. What you typed is still here; sign in on another page to go on.");
  if (answer.status !== 200) return tell("This list can't be kept up to date at the moment. It is tried again.");
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("cards");
  if (!fresh) return;
  const whole = merge(fresh);
  here.dataset.digest = whole ? fresh.dataset.digest : "";
  const waiting = document.getElementById("waiting");
  if (waiting && fresh.dataset.waiting) waiting.textContent = fresh.dataset.waiting;
};

if (cards() && live) {
  const turn = async () => {
    await look();
    setTimeout(turn, every);
  };
  setTimeout(turn, every);
}
