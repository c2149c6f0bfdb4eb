/** Reads a setting that this browser keeps; the fallback where it keeps none, or may not. */
export function kept(name: string, fallback: string): string {
  try {
    return localStorage.getItem(name) ?? fallback;
  } catch {
    return fallback;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The setting lasts until the page is reloaded.
  }
}
