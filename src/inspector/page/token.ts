const KEY = "token";

/**
 * The token that opens the API. It comes in the fragment of the printed address, which browsers send to no server, and
 * is kept for this tab and this origin only, port included: no other service of this machine sees it.
 */
let token = stored();

/** Returns the header that every request to the API carries. */
export function authorization(given: string = token): Record<string, string> {
  return given === "" ? {} : { Authorization: `Bearer ${given}` };
}

/**
 * Takes the token out of the address, if there is any. A tab with a token replaces it only by a token that
 * `isAccepted`, since anyone can make a link with a wrong one.
 */
export async function takeToken(isAccepted: (token: string) => Promise<boolean>): Promise<void> {
  const offered = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (offered === undefined) return;
  history.replaceState(null, "", location.pathname);
  if (token === "" || (offered !== token && (await isAccepted(offered)))) keep(offered);
}

function keep(offered: string): void {
  token = offered;
  try {
    sessionStorage.setItem(KEY, offered);
  } catch {
    // A browser may forbid storage; then the token lasts until the page is reloaded.
  }
}

function stored(): string {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return "";
  }
}
