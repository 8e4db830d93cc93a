// Where the network does not answer, shows the page of this phone's dishes. Everything else goes its own way.
const OTHERS = /^\/(admin|healthz|photos|readyz|recordings|review|static)(\/|$)/;

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => {
  const ready = self.registration.navigationPreload ? self.registration.navigationPreload.enable() : null;
  event.waitUntil(Promise.all([ready, self.clients.claim()]));
});

// In the language of the address, else in the one that the phone has.
async function kept({ url }) {
  const cache = await caches.open("phone");
  const pages = (await cache.keys()).map((page) => page.url).filter((address) => address.endsWith("/phone/"));
  const language = new URL(url).pathname.slice(0, 4);
  pages.sort((one, other) => other.includes(language) - one.includes(language));
  for (const page of pages) {
    const answer = await cache.match(page, { ignoreVary: true });
    if (answer) return answer;
  }
  return Response.error();
}

async function page(event) {
  try {
    return (await event.preloadResponse) || (await fetch(event.request));
  } catch (error) {
    return kept(event.request);
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
