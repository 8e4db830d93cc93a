// Keeps the standing of a run fresh while it goes on. Without this script the page is as it was when it was opened.
const seconds = 5
async function renew() {
  const shown = document.getElementById('standing')
  if (!shown || !('going' in shown.dataset)) return
  try {
    const answer = await fetch(location.href, { headers: { 'X-Requested-With': 'run.js' } })
    if (answer.ok) {
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
      const fresh = page.getElementById('standing')
      if (fresh && !('going' in fresh.dataset)) return location.reload()
      if (fresh) shown.replaceWith(fresh)
    }
  } catch { /* The network is away for a moment: the next turn tries again. */ }
  setTimeout(renew, seconds * 1000)
}
setTimeout(renew, seconds * 1000)
