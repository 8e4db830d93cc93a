// What a phone needs without a network: the kept page, numbers and codes of its own making, and the end of a turn that
// the project has not heard of yet. `queue.js` asks for it.
const DAMM = "0317598642709215486342068713591750983426612304597836742095815869720134894536201794386172052581436790";

// Random digits and their check digit, in groups.
function digits(length, each) {
  const bytes = Array.from(crypto.getRandomValues(new Uint8Array(99))).filter((byte) => byte < 250);
  const made = bytes.slice(0, length).map((byte) => byte % 10);
  const whole = made.join("") + made.reduce((state, digit) => DAMM[state * 10 + digit], "0");
  return whole.replace(new RegExp(`.{${each}}(?=.)`, "g"), "$& ");
}

export const number = () => digits(8, 3);
export const code = () => digits(19, 4);

// What is sent of a code: the SHA-256 of its digits, from which nobody finds them.
export async function seal(shown) {
  const bytes = new TextEncoder().encode(shown.replace(/ /g, ""));
  const hashed = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hashed, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Tells the project whose turn is over; only our own page says that it is done.
export async function pay(address, proof) {
  const body = new URLSearchParams({ proof });
  const answer = await fetch(address, { method: "POST", body, redirect: "manual", cache: "no-store" });
  if (!(await answer.text()).includes(' data-over="1"')) throw new Error("not heard");
}

// What the phone needs to show its page without a network: that page in this language, its style and the scripts.
export async function prepare(texts, script) {
  if (!navigator.serviceWorker || !window.caches) return;
  await navigator.serviceWorker.register("/worker.js", { updateViaCache: "all" });
  const cache = await caches.open("phone");
  // Weak where the page came compressed.
  const edition = (answer) => answer && (answer.headers.get("ETag") || "").endsWith(`"${texts.edition}"`);
  if (edition(await cache.match(texts.phone, { ignoreVary: true }))) return;
  const style = document.querySelector("link[rel=stylesheet]").href;
  const parts = [style, script, import.meta.url];
  const page = await fetch(texts.phone, { redirect: "error", cache: "no-store" });
  if (!edition(page)) return;
  for (const part of parts) {
    const answer = await fetch(part, { redirect: "error", cache: "force-cache" });
    if (/^text\/(css|javascript)/.test(answer.headers.get("Content-Type"))) await cache.put(part, answer);
  }
  await cache.put(texts.phone, page);
  const wanted = [texts.phone, ...parts].map((address) => new URL(address, location).href);
  for (const old of await cache.keys()) if (!wanted.includes(old.url)) await cache.delete(old);
}
