/** Work that pauses after each of its pieces, so that it can be spread over turns of the event loop. */
export type Pieces<Result> = Generator<undefined, Result>;

/** Does all pieces at once. */
export function finished<Result>(pieces: Pieces<Result>): Result {
  for (;;) {
    const piece = pieces.next();
    if (piece.done) return piece.value;
  }
}
