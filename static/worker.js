// Where the network does not answer, shows the page of this phone's dishes. Everything else goes its own way.
const OTHERS = /^\/(admin|healthz|photos|readyz|recordings|review|static)(\/|$)/;

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  const ready = self.registration.navigationPreload ? self.registration.navigationPreload.enable() : null;
  event.waitUntil(Promise.all([ready, self.clients.claim()]));
});

async function kept() {
  const cache = await caches.open("phone");
  const pages = (await cache.keys()).filter((page) => page.url.endsWith("/phone/"));
  return pages.length ? cache.match(pages[0], { ignoreVary: true }) : Response.error();
}

async function page(event) {
  try {
    return (await event.preloadResponse) || (await fetch(event.request));
  } catch (error) {
    return kept();
  }
}

async function part(request) {
  const cache = await caches.open("phone");
  return (await cache.match(request, { ignoreVary: true })) || fetch(request);
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (origin !== self.location.origin || request.method !== "GET") return;
  if (request.mode === "navigate" && !OTHERS.test(pathname)) event.respondWith(page(event));
  else if (pathname.startsWith("/static/")) event.respondWith(part(request));
});
