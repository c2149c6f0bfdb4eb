import { type ComponentType, render } from "preact";
import { isAccepted } from "./api.ts";
import { App } from "./app.tsx";
import { Locked } from "./locked.tsx";
import { takeToken } from "./token.ts";

const show = (Shown: ComponentType): void => render(<Shown />, document.body);

async function enter(): Promise<void> {
  await takeToken(isAccepted);
  show(App);
}

addEventListener("unauthorized", () => show(Locked));
// The printed address, pasted into a tab with the page open, changes only the fragment.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) void enter();
});
await enter();
