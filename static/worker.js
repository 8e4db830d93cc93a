// Where the network does not answer, shows the page of this phone's dishes. Everything else goes its own way.
// No other page that is sent: Back finds the answer of a POST only where the browser asked for it itself.
const FINISH = /(\/|\?)finish\/?$/;
const OTHERS = /^(\/[a-z]{2})?\/(admin|healthz|photos|readyz|recordings|review|static)(\/|$)/;

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

// *Finish* without a network: the kept page ends the turn on this phone.
async function finish(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const address = await kept(request);
    return address ? Response.redirect(`${address}#over`, 303) : Response.error();
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
  if (request.method === "POST" && FINISH.test(request.url)) event.respondWith(finish(request));
  if (request.method !== "GET") return;
  if (request.mode === "navigate" && !OTHERS.test(pathname)) event.respondWith(page(event));
  else if (pathname.startsWith("/static/")) event.respondWith(part(request));
});
