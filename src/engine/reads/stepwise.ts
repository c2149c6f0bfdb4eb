/** What is gone through one by one: from what is at hand if it can be, else by looking further. */
export interface Source<Item> {
  /** The next one, or the end; undefined where that takes looking. */
  atHand(): IteratorResult<Item, undefined> | undefined;
  /** The next one, or the end. */
  find(): Promise<IteratorResult<Item, undefined>>;
}

/** The end of what a source has. */
export const END: IteratorReturnResult<undefined> = { done: true, value: undefined };

/**
 * What an async generator function gives, over a source: calls are answered in order, and after its end or a failure
 * there is nothing more. What is at hand is answered without the turns that resuming a generator takes.
 */
export class Stepwise<Item> implements AsyncGenerator<Item, undefined, unknown> {
  readonly #source: Source<Item>;
  /** The last call that is under way. */
  #last: Promise<unknown> | undefined;
  #ended = false;

  constructor(source: Source<Item>) {
    this.#source = source;
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#last === undefined) {
      const result = this.#ended ? END : this.#source.atHand();
      if (result !== undefined) return Promise.resolve(result);
    }
    return this.#inTurn(async () => {
      if (this.#ended) return END;
      try {
        const result = this.#source.atHand() ?? (await this.#source.find());
        if (result.done) this.#ended = true;
        return result;
      } catch (error) {
        this.#ended = true;
        throw error;
      }
    });
  }

  return(value?: unknown): Promise<IteratorResult<Item, undefined>> {
    return this.#inTurn(async () => {
      this.#ended = true;
      return { done: true, value: (await value) as undefined };
    });
  }

  throw(error: unknown): Promise<IteratorResult<Item, undefined>> {
    return this.#inTurn(async () => {
      this.#ended = true;
      throw error;
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  #inTurn<Result>(action: () => Promise<Result>): Promise<Result> {
    const result = this.#last === undefined ? action() : this.#last.then(action, action);
    this.#last = result;
    const settled = (): void => {
      if (this.#last === result) this.#last = undefined;
    };
    result.then(settled, settled);
    return result;
  }
}
