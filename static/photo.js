// Makes a photo small on the phone, and sends it so that a bad line costs only what was under way. The form stays as
// it is: where anything here is missing or goes wrong, it sends the photo by itself.
const form = document.getElementById("photo-form");
const input = document.getElementById("photo");
const button = document.getElementById("send");
const status = document.getElementById("sending");

const MOST_PIXELS = 12e6;
const MOST_BYTES = 150000;
const SIDE = 1600;
const PART = 64 * 1024;
const WAITS = [1, 2, 4, 8, 15, 30, 30];
const MARK = "shrinking";
// Two pixels side by side that stand above each other once the image is turned upright.
const TURNED =
  "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDAP//////////////////////////" +
  "////////////////////////////////////////////////////////////wAALCAABAAIBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EAB" +
  "QQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z";

const bytesOf = (blob) => new Response(blob).arrayBuffer();
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));
const say = (text, percent = 100) => (status.textContent = text.replace("100", String(percent)));

// Set before decoding: a phone that runs out of memory loads this page again and then leaves its photos as they are.
function marked() {
  try {
    if (localStorage.getItem(MARK)) return false;
    localStorage.setItem(MARK, "1");
    return true;
  } catch (error) {
    return false;
  }
}

function unmark() {
  try {
    localStorage.removeItem(MARK);
  } catch (error) {
    // Storage went away: there is no mark either.
  }
}

// Pixels of a JPEG or PNG as its head states them, without decoding it; 0 for other kinds.
async function pixels(file) {
  const view = new DataView(await bytesOf(file.slice(0, 256 * 1024)));
  if (view.getUint32(0) === 0x89504e47) return view.getUint32(16) * view.getUint32(20);
  if (view.getUint16(0) !== 0xffd8) return 0;
  for (let at = 2; at + 9 < view.byteLength; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at);
    const frame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (frame) return view.getUint16(at + 5) * view.getUint16(at + 7);
  }
  return 0;
}

async function turnsUpright() {
  const image = Uint8Array.from(atob(TURNED), (sign) => sign.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([image], { type: "image/jpeg" }));
  return bitmap.height === 2;
}

const encoded = (canvas, quality) => new Promise((done) => canvas.toBlob(done, "image/jpeg", quality));

async function redrawn(bitmap) {
  const canvas = document.createElement("canvas");
  for (let side = SIDE; side > 300; side *= 0.75) {
    const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
    canvas.width = Math.round(bitmap.width * scale);
    canvas.height = Math.round(bitmap.height * scale);
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    for (const quality of [0.8, 0.65, 0.5]) {
      const blob = await encoded(canvas, quality);
      if (blob && blob.size <= MOST_BYTES) return blob;
    }
  }
  return null;
}

async function small(file) {
  if (file.size <= MOST_BYTES) return file;
  const size = await pixels(file);
  if (!size || size > MOST_PIXELS || !marked()) return file;
  try {
    if (!(await turnsUpright())) return file;
    const bitmap = await createImageBitmap(file);
    return (await redrawn(bitmap)) || file;
  } finally {
    unmark();
  }
}

class Refused extends Error {}

async function send(hash, start, part) {
  const data = new FormData();
  data.append("proof", form.elements.proof.value);
  data.append("sha256", hash);
  data.append("start", String(start));
  if (part) data.append("part", part, "part");
  const answer = await fetch(form.dataset.parts, { method: "POST", body: data });
  if (answer.status >= 500) throw new Error(String(answer.status));
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(said.error || "");
  return said.here;
}

// Sends again what was lost, less and less often; gives up after a minute and a half without a line.
async function patiently(hash, start, part) {
  for (const wait of WAITS) {
    try {
      return await send(hash, start, part);
    } catch (error) {
      if (error instanceof Refused) throw error;
      await pause(wait);
    }
  }
  return send(hash, start, part);
}

async function deliver(photo) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", await bytesOf(photo)));
  const hash = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const step = photo.size <= MOST_BYTES ? photo.size : PART;
  let here = step === photo.size ? 0 : await patiently(hash, 0);
  for (let turn = 0; here < photo.size; turn += 1) {
    if (turn > 2 * Math.ceil(photo.size / step)) throw new Refused("");
    say(status.dataset.sending, Math.floor((100 * here) / photo.size));
    here = await patiently(hash, here, photo.slice(here, here + step));
  }
  return hash;
}

function submit(hash) {
  const whole = document.createElement("input");
  whole.type = "hidden";
  whole.name = "whole";
  whole.value = hash;
  form.append(whole);
  input.disabled = true;
  form.submit();
}

async function start(file) {
  button.disabled = true;
  say(status.dataset.sending, 0);
  try {
    submit(await deliver(await small(file).catch(() => file)));
  } catch (error) {
    button.disabled = false;
    if (error instanceof Refused && error.message) say(error.message);
    else if (error instanceof Refused || !(error instanceof TypeError)) form.submit();
    else say(status.dataset.failed);
  }
}

if (form && status && window.fetch && window.crypto && crypto.subtle && window.FormData) {
  button.addEventListener("click", (event) => {
    const file = input.files && input.files[0];
    if (!file) return;
    event.preventDefault();
    start(file);
  });
  // Back to this page as it was left: everything may be used again.
  window.addEventListener("pageshow", () => {
    for (const whole of form.querySelectorAll("[name=whole]")) whole.remove();
    input.disabled = button.disabled = false;
    status.textContent = "";
  });
}
