// Back to a page that was sent shows what was typed there. Browsers leave out what they must not offer to the next person
// (`autocomplete=off`). The words lie in this tab's history. They come back only into a form of the same kind for the same
// person in the same turn, as its token says: after *Finish* no page has such a token any more.
const SENT = "typed";
const forms = [...document.querySelectorAll("main form")].filter((form) => form.elements.proof);
const fields = (form) => [...form.querySelectorAll("input:not([type=hidden]):not([type=file]), textarea, select")];

// Purpose, person and turn of the form's token.
function owner(form) {
  const text = form.elements.proof.value.split(":")[0].replace(/-/g, "+").replace(/_/g, "/");
  const [purpose, , person, , , turn] = JSON.parse(atob(text));
  return [purpose, person, turn].join(" ");
}

function keep({ target }) {
  if (!forms.includes(target)) return;
  const words = fields(target).map((field) => (/^(checkbox|radio)$/.test(field.type) ? field.checked : field.value));
  history.replaceState({ ...history.state, [SENT]: { key: owner(target), words } }, "");
}

function restore() {
  const { key, words } = (history.state && history.state[SENT]) || {};
  const form = key && forms.find((one) => owner(one) === key);
  if (!form) return;
  fields(form).forEach((field, place) => {
    if (typeof words[place] === "boolean") field.checked = words[place];
    else if (typeof words[place] === "string" && !field.value) field.value = words[place];
  });
}

restore();
addEventListener("submit", keep);
