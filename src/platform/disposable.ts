/** Returns the generator with the method that `await using` calls: before Node 24, generators have none of their own. */
export function disposable<Item>(generator: AsyncGenerator<Item>): AsyncGenerator<Item> {
  if (!(Symbol.asyncDispose in generator)) {
    Object.defineProperty(generator, Symbol.asyncDispose, {
      value: async (): Promise<void> => {
        await (generator as AsyncGenerator<Item>).return(undefined);
      },
    });
  }
  return generator;
}
