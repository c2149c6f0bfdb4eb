export function plotResults(_: unknown): void {}
