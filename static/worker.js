// Where the network does not answer, shows the page of this phone's dishes. Everything else goes its own way.
// Pages that are no part of it; what sends a photo is left to the browser, for its size.
const FILES = /^\/admin\/|\/photo\/$/;
const OTHERS = /^\/(admin|healthz|photos|readyz|recordings|review|static)(\/|$)/;

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  const ready = self.registration.navigationPreload ? self.registration.navigationPreload.enable() : null;
  event.waitUntil(Promise.all([ready, self.clients.claim()]));
});

// The address of the kept page, in the language of this address, else in the one that the phone has.
async function kept({ url }) {
  const cache = await caches.open("phone");
  const pages = (await cache.keys()).map((page) => page.url).filter((address) => address.endsWith("/phone/"));
  const language = new URL(url).pathname.slice(0, 4);
  return pages.sort((one, other) => other.includes(language) - one.includes(language))[0];
}

async function shown(request) {
  const address = await kept(request);
  return (address && (await caches.match(address, { ignoreVary: true }))) || Response.error();
}

async function page(event) {
  try {
    return (await event.preloadResponse) || (await fetch(event.request));
  } catch (error) {
    return shown(event.request);
  }
}

// What was sent found no network: the kept page says so. A *Finish* ends the turn there, on this phone.
async function sent(request) {
  const copy = request.clone();
  try {
    return await fetch(request);
  } catch (error) {
    const address = await kept(request);
    if (!address) return Response.error();
    const over = /\/finish\/$/.test(request.url) || (await copy.formData()).has("forget");
    return Response.redirect(address + (over ? "#over" : "#unsent"), 303);
  }
}

async function part(request) {
  const cache = await caches.open("phone");
  return (await cache.match(request, { ignoreVary: true })) || fetch(request);
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin) return;
  if (request.method === "POST" && request.mode === "navigate" && !FILES.test(pathname)) event.respondWith(sent(request));
  if (request.method !== "GET") return;
  if (request.mode === "navigate" && !OTHERS.test(pathname)) event.respondWith(page(event));
  else if (pathname.startsWith("/static/")) event.respondWith(part(request));
});
