// Suggests ingredients while somebody writes. The button that asks without this script goes once this has worked.
const field = document.getElementById("id_ingredients");
const button = document.getElementById("suggest");
const list = document.createElement("div");
const known = new Map();
const commas = /[,;\n،؛、，；፣၊]/;
let waiting = 0;

const beginning = () => field.value.split(commas).pop().trim();

async function names(text) {
  if (!known.has(text)) {
    const answer = await fetch(field.form.dataset.ingredients + "?q=" + encodeURIComponent(text));
    if (!answer.ok) throw new Error(String(answer.status));
    known.set(text, (await answer.json()).names);
  }
  return known.get(text);
}

function offer(found) {
  list.textContent = "";
  for (const name of found) {
    const choice = document.createElement("button");
    choice.type = "button";
    choice.className = "second";
    choice.dir = "auto";
    choice.textContent = name;
    choice.addEventListener("click", () => take(name));
    list.append(choice, " ");
  }
}

function take(name) {
  const text = field.value;
  const kept = text.slice(0, text.length - text.split(commas).pop().length);
  field.value = kept + (kept && !/\s$/.test(kept) ? " " : "") + name + ", ";
  list.textContent = "";
  field.focus();
}

async function ask() {
  const text = beginning();
  if (text.length < 2) return offer([]);
  try {
    const found = await names(text);
    if (text === beginning()) offer(found);
    button.hidden = true;
  } catch (error) {
    offer([]);
    button.hidden = false;
  }
}

if (field && button && window.fetch) {
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", button.textContent);
  field.parentNode.append(list);
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, 500);
  });
}

// typing.js brings typing back, where there is some.
const bring = () => import(field.form.dataset.typing);
history.state?.typed ? bring() : field.form.addEventListener("input", bring, { once: true });
