/** Returns the text of a message without the marks of Markdown, for a line in a list. */
export function withoutMarks(markdown: string): string {
  return markdown
    .replaceAll(/^```\w*[ \t]*$/gm, "")
    .replaceAll(/^\s{0,3}(?:#{1,6}|>|[-*+](?=\s))\s+/gm, "")
    .replaceAll(/!?\[([^\]\n]*)\]\([^)\s]*\)/g, "$1")
    .replaceAll(/(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replaceAll(/(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])/g, "$1")
    .replaceAll(/`([^`\n]+)`/g, "$1");
}
