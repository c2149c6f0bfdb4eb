import { App } from "./app.js";
import { html, render } from "./dom.js";

render(html`<${App} />`, document.body);
