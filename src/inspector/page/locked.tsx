import type { JSX } from "preact";

/** Shows a hint in a tab without a token, or with the token of an inspector that has ended. */
export function Locked(): JSX.Element {
  return (
    <>
      <header class="bar">
        <span class="brand">Threadmark</span>
      </header>
      <main data-shown="locked">
        <section class="locked" aria-label="How to open the inspector">
          <h1>This tab has no valid token</h1>
          <p>
            Open the address that <code>threadmark ui</code> printed in the terminal. The token is the part after{" "}
            <code>#token=</code>.
          </p>
          <p>
            A token belongs to one tab and to one run of the inspector. If the terminal is gone, start{" "}
            <code>threadmark ui</code> again: it prints a new address.
          </p>
        </section>
      </main>
    </>
  );
}
