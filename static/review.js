// Shows, hides and enlarges the image without loading the page anew. Whatever goes wrong, the form is sent as usual.
const form = document.querySelector("form.judge");
const quiet = new Set(["show", "hide", "larger"]);

async function exchange(button) {
  const body = new FormData(form);
  body.set(button.name, button.value);
  const answer = await fetch(form.action, { method: "POST", body, credentials: "same-origin" });
  if (!answer.ok) throw new Error(answer.status);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const view = page.querySelector("form.judge .view");
  const proof = page.querySelector("form.judge [name=proof]");
  if (!view || !proof) throw new Error("another page");
  form.querySelector("[name=proof]").value = proof.value;
  form.querySelector(".view").replaceWith(document.adoptNode(view));
  const next = button.value === "larger" ? ".size button" : ".hold button";
  form.querySelector(next).focus({ preventScroll: true });
}

if (form && window.fetch && window.DOMParser) {
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button || button.name !== "do" || !quiet.has(button.value)) return;
    event.preventDefault();
    exchange(button).catch(() => {
      const field = Object.assign(document.createElement("input"), { type: "hidden", name: "do", value: button.value });
      form.append(field);
      form.submit();
    });
  });
}
