// Back to a page that was sent shows what was typed there. Browsers leave out what they must not offer to the next person
// (`autocomplete=off`). The words lie in this tab's history, beside the token of the very page that was served: *Finish*
// takes that page from the browser, and the one that comes in its place has another token.
const SENT = "typed";
const forms = [...document.querySelectorAll("main form")].filter((form) => form.elements.proof);
const fields = (form) => [...form.querySelectorAll("input:not([type=hidden]):not([type=file]), textarea, select")];
const keys = (form) => `${form.elements.proof.value} ${forms.indexOf(form)}`;

function keep({ target }) {
  if (!forms.includes(target)) return;
  const words = fields(target).map((field) => (/^(checkbox|radio)$/.test(field.type) ? field.checked : field.value));
  history.replaceState({ ...history.state, [SENT]: { key: keys(target), words } }, "");
}

function restore() {
  const { key, words } = (history.state && history.state[SENT]) || {};
  const form = forms.find((one) => keys(one) === key);
  if (!form) return;
  fields(form).forEach((field, place) => {
    if (typeof words[place] === "boolean") field.checked = words[place];
    else if (typeof words[place] === "string" && !field.value) field.value = words[place];
  });
}

restore();
addEventListener("submit", keep);
