/** Shortens a path into a value for a message: only the start and the end of a very long path are shown. */
export function shortenPath(path: string): string {
  return path.length > 300 ? `${path.slice(0, 200)} ... ${path.slice(-80)}` : path;
}
