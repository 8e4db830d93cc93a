// Keeps each dish on the phone until our own answer names its form; where anything fails, the plain form sends it.
const found = (id) => document.getElementById(id);
const [shell, form, save] = ["queue", "dish", "save"].map(found);
const texts = shell.dataset;
const box = shell.content.firstElementChild.cloneNode(true);
const status = box.querySelector("[role=status]");
const list = box.querySelector("ul");
const sample = list.firstElementChild;

const PATIENCE = 60;
const AGAIN = 60;
const ABOUT_THE_FORM = ["proof", "form"];
const received = [];
const finishes = document.querySelectorAll(`form[action="${texts.finish}"]`);
let turn = 0;
let pass = "";
let code = "";
let busy = false;
// Sent for the first time: no code yet, the project may show one.
let fresh = 0;

let opened = null;

function database() {
  if (!opened) {
    opened = new Promise((done, fail) => {
      const request = indexedDB.open("dishes", 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore("dishes", { keyPath: "place", autoIncrement: true }).createIndex("form", "form");
        request.result.createObjectStore("turn");
      };
      request.onsuccess = () => {
        request.result.onversionchange = () => request.result.close();
        done(request.result);
      };
      request.onerror = request.onblocked = () => fail(request.error);
    });
  }
  return opened;
}

const offline = () => import(texts.offline);

const asked = (request) =>
  new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });

// What `work` returns, once it is on the disk.
async function stored(mode, work) {
  const change = (await database()).transaction(["dishes", "turn"], mode, { durability: "strict" });
  const ended = new Promise((done, fail) => {
    change.oncomplete = done;
    change.onabort = change.onerror = () => fail(change.error);
  });
  const result = await work(change.objectStore("dishes"), change.objectStore("turn"));
  await ended;
  return result;
}

const dishes = () => stored("readonly", (rows) => asked(rows.getAll()));
const here = () => stored("readonly", async (_rows, turns) => (await asked(turns.get("now"))) || { turn: 0, pass: "" });

const changeTurn = (change) =>
  stored("readwrite", async (_rows, turns) => {
    const now = (await asked(turns.get("now"))) || { turn: 0, pass: "" };
    await asked(turns.put(Object.assign(now, change(now)), "now"));
    return now;
  });

// Nobody sees the dishes of this turn any more; they are still sent.
const finishTurn = (owed) =>
  changeTurn((now) => ({ turn: now.turn + 1, pass: "", code: "", owed: owed && (now.owed || owed) }));

class Over extends Error {}

const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// One row for each form and each same typing; none for somebody whose turn is over.
const keep = (dish) =>
  stored("readwrite", async (rows, turns) => {
    const now = await asked(turns.get("now"));
    if (!now || now.turn !== dish.turn) throw new Over();
    const all = await asked(rows.getAll());
    const former = all.find((row) => row.form === dish.form || (row.turn === dish.turn && same(row.words, dish.words)));
    const { place, form, number } = former || {};
    const kept = former ? Object.assign({}, dish, { place, form, number }) : dish;
    kept.place = await asked(rows.put(kept));
    return kept;
  });

// Changes or removes a dish, unless its words changed under way.
const settle = (dish, change) =>
  stored("readwrite", async (rows) => {
    const now = await asked(rows.get(dish.place));
    if (!now || !same(now.words, dish.words)) return;
    await asked(change ? rows.put(Object.assign(now, change)) : rows.delete(dish.place));
  });

function newForm() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

class Unsent extends Error {}

// What the project says of a dish. Throws Unsent where it did not answer.
async function deliver(dish) {
  const body = new URLSearchParams(dish.words);
  body.append("form", dish.form);
  body.append("proof", dish.pass);
  body.append("number", dish.number || "");
  if (dish.place !== fresh) body.append("seal", dish.seal || "");
  const stop = window.AbortController ? new AbortController() : null;
  const timer = setTimeout(() => stop && stop.abort(), PATIENCE * 1000);
  const asking = { method: "POST", body, redirect: "manual", cache: "no-store", signal: stop ? stop.signal : undefined };
  let answer = null;
  try {
    answer = await fetch(texts.send, asking);
    const said = await answer.json();
    if (said.form === dish.form && (said.receipt || said.error)) return said;
  } catch (error) {
    // No network, no answer in time, or one that is not ours: told apart below.
  } finally {
    clearTimeout(timer);
  }
  throw new Unsent(answer && (answer.status < 500 || answer.status === 511) ? texts.stranger : texts.unreached);
}

function hidden(name, value) {
  return Object.assign(document.createElement("input"), { type: "hidden", name, value });
}

function goOn(token) {
  const next = document.createElement("form");
  next.method = "post";
  next.action = texts.more;
  next.append(hidden("proof", token), hidden("speak", "more"));
  document.body.append(next);
  next.submit();
}

const say = (text) => (status.textContent = text);
const word = (dish, name) => (dish.words.find((pair) => pair[0] === name) || ["", ""])[1];

function line(dish, told, choices) {
  const item = sample.cloneNode(true);
  const [name, state, number] = [".dish-name", ".n", ".code"].map((part) => item.querySelector(part));
  const closed = dish.turn !== turn;
  if (closed) name.replaceWith(texts.earlier);
  else name.textContent = word(dish, "local_name");
  const known = !closed && dish.place !== fresh && (dish.receipt || dish.number);
  number.textContent = known || "";
  state.textContent = closed && dish.receipt ? texts.arrived : told;
  if (known && !dish.receipt) state.textContent += ` · ${texts.number}`;
  for (const button of item.querySelectorAll("button")) {
    const choice = choices[button.name];
    if (!choice || (closed && !["send", "drop"].includes(button.name))) button.remove();
    button.setAttribute("aria-describedby", `queued-${dish.form}`);
    button.addEventListener("click", choice);
  }
  if (dish.receipt) item.className = "received";
  state.id = `queued-${dish.form}`;
  return item;
}

async function show(under = null) {
  const waiting = await dishes();
  const lines = received.map((dish) => line(dish, texts.received, dish.more ? { go: () => goOn(dish.more) } : {}));
  for (const dish of waiting) {
    const choices = { send: () => sendOne(dish), copy: () => copy(dish), drop: () => drop(dish) };
    if (form && save) choices.change = () => change(dish);
    const told = dish.place === under ? texts.sending : dish.refused || texts.saved;
    lines.push(line(dish, told, dish.place === under ? {} : choices));
  }
  const mine = (dish) => dish.seal && dish.turn === turn && dish.place !== fresh;
  const shown = received.concat(waiting).some(mine);
  box.querySelector(".received").hidden = !shown;
  box.querySelector(".big").textContent = shown ? code : "";
  if (pass || code) for (const other of finishes) other.hidden = false;
  if (code && found("over")) found("over").hidden = true;
  list.textContent = "";
  list.append(...lines);
  if (!lines.length && !status.textContent) box.remove();
  else if (!box.isConnected) found("main").prepend(box);
}

async function receive(dish, said) {
  await settle(dish, said.receipt ? null : { refused: said.error });
  if (said.receipt) received.push(Object.assign({}, dish, said));
}

async function send(dish) {
  await show(dish.place);
  await receive(dish, await deliver(dish));
}

async function sending(chosen) {
  if (busy) return;
  busy = true;
  try {
    for (const dish of chosen) await send(dish);
    say("");
  } catch (error) {
    if (error instanceof Unsent) say(error.message);
  } finally {
    busy = false;
    await show();
  }
}

const sendOne = (dish) => sending([dish]);
async function sendAll() {
  if ((await here()).owed) await payOwed().catch(() => {});
  return sending((await dishes()).filter((dish) => !dish.refused));
}

async function drop(dish) {
  if (!confirm(texts.question)) return;
  await settle(dish, null);
  await show();
}

function copy(dish) {
  const lines = dish.words.filter(([name, value]) => !/^(website|adult|agree)$/.test(name) && value.trim()).map((pair) => pair[1]);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/plain" }));
  link.download = "dish.txt";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), AGAIN * 1000);
}

function change(dish) {
  for (const [name, value] of dish.words) if (form.elements[name] && name !== "also") form.elements[name].value = value;
  form.elements.form.value = dish.form;
  form.elements.local_name.focus();
}

// Place and language stay.
function empty() {
  for (const name of ["local_name", "ingredients", "website"]) form.elements[name].value = "";
  for (const choice of form.querySelectorAll("[name=also]")) choice.checked = false;
  form.elements.form.value = newForm();
}

function typed() {
  const words = Array.from(new FormData(form)).filter(([name]) => !ABOUT_THE_FORM.includes(name));
  const token = pass || form.dataset.consent;
  return { form: form.elements.form.value, words, pass: token, turn, refused: "" };
}

// A number for the dish, and of the turn's code what is sent.
async function numbered(dish) {
  const make = await offline();
  dish.number = make.number();
  if (!crypto.subtle) return;
  ({ code } = await changeTurn((now) => ({ code: now.code || make.code() })));
  dish.seal = await make.seal(code);
}

// The plain form, with the first token of the page.
function plainly() {
  save.disabled = false;
  form.submit();
}

async function give() {
  save.disabled = true;
  let dish = typed();
  let lacking = texts.full;
  try {
    await numbered(dish).catch(() => {});
    dish = await keep(dish);
    lacking = "";
  } catch (error) {
    if (error instanceof Over) return plainly();
  }
  busy = true;
  fresh = dish.place;
  try {
    await show(dish.place);
    if (lacking && !pass) throw new Unsent(lacking);
    const said = await deliver(dish);
    if (!lacking && (said.receipt || !said.later)) await settle(dish, null);
    if (said.more) return goOn(said.more);
    if (!said.later) return plainly();
    await receive(dish, said);
    say("");
  } catch (error) {
    if (!(error instanceof Unsent)) return plainly();
    say(lacking || error.message);
  } finally {
    busy = false;
    fresh = 0;
  }
  if (!lacking) empty();
  save.disabled = false;
  await show();
  box.scrollIntoView();
}

async function payOwed() {
  await (await offline()).pay(texts.finish, (await here()).owed);
  await changeTurn(() => ({ owed: false }));
}

function enhance() {
  const [note, consent] = ["closed", "consent"].map(found);
  form.hidden = !pass && !crypto.subtle;
  if (note) note.hidden = !form.hidden;
  if (consent && pass) consent.remove();
  if (!form.dataset.queue) form.elements.form.value = newForm();
  save.addEventListener("click", (event) => {
    // Without a network only the browser can say what is missing.
    if (!(navigator.onLine ? form.checkValidity() : form.reportValidity())) {
      if (!navigator.onLine) event.preventDefault();
      return;
    }
    event.preventDefault();
    give();
  });
  // Back to this page as it was left.
  addEventListener("pageshow", () => (save.disabled = false));
}

function watchFinish() {
  for (const other of finishes) {
    other.addEventListener("submit", (event) => {
      event.preventDefault();
      const own = other.elements.proof;
      const go = () => other.submit();
      finishTurn(pass || (own && own.value) || true).then(({ owed }) => other.append(hidden("proof", owed))).then(go, go);
    });
  }
}

async function start() {
  let now = await here();
  const kept = form && form.dataset.consent;
  if (texts.over) now = await finishTurn(false);
  if (kept && location.hash === "#over") {
    found("over").hidden = false;
    now = await finishTurn(now.pass || true);
    history.replaceState(null, "", "#");
  }
  if (now.owed && !kept) return payOwed().then(() => location.reload(), () => {});
  if (form && form.dataset.queue) now = await changeTurn(() => ({ pass: form.dataset.queue }));
  [turn, pass, code] = [now.turn, now.pass, now.code || ""];
  if (form && save) enhance();
  watchFinish();
  await sendAll();
  addEventListener("online", sendAll);
  setInterval(() => document.hidden || sendAll(), AGAIN * 1000);
  if (texts.edition) offline().then((make) => make.prepare(texts, import.meta.url)).catch(() => {});
}

if (window.fetch && window.indexedDB && window.crypto && window.URLSearchParams) start().catch(() => {});
