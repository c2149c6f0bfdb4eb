import { isAccepted } from "./api.js";
import { App } from "./app.js";
import { html, render } from "./dom.js";
import { Locked } from "./locked.js";
import { takeToken } from "./token.js";

const show = (component) => render(html`<${component} />`, document.body);

async function enter() {
  await takeToken(isAccepted);
  show(App);
}

addEventListener("unauthorized", () => show(Locked));
// The printed address, pasted into a tab with the page open, changes only the fragment.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) void enter();
});
await enter();
