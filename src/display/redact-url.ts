/**
 * Removes the password from a store's address. A password may contain an @ itself: it ends at the last @ before the
 * path.
 */
export function withoutPassword(url: string): string {
  return url
    .replace(/^(postgres(?:ql)?:\/\/[^:@/?#]*):[^/?#]*@/, "$1@")
    .replaceAll(/([?&](?:ssl)?password=)[^&]*/gi, "$1…");
}
