/** Returns everything that an async iterable yields. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** Returns the ids of what an async iterable yields: checkpoints, threads. */
export async function idsOf(items: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  return (await collect(items)).map(({ id }) => id);
}
