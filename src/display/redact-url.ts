/** The address of a store as people may see it. A password may hold an @ itself: it ends at the last one before the path. */
export function withoutPassword(url: string): string {
  return url
    .replace(/^(postgres(?:ql)?:\/\/[^:@/?#]*):[^/?#]*@/, "$1@")
    .replaceAll(/([?&](?:ssl)?password=)[^&]*/gi, "$1…");
}
