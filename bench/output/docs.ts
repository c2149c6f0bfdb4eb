export function writeDocs(_: unknown): void {}
