/** How much of a long campaign to do: its default times the number in THREADMARK_LONG. */
export function howMany(defaultCount: number): number {
  const factor = Number(process.env.THREADMARK_LONG ?? "1");
  if (!(factor > 0))
    throw new TypeError(`THREADMARK_LONG must be a positive number, not ${process.env.THREADMARK_LONG}.`);
  return Math.max(1, Math.round(defaultCount * factor));
}

/** Says how far a campaign is, now and then. */
export function progressOf(what: string, every: number): (done: number) => void {
  return (done) => {
    if (done % every === 0) console.log(`${what}: ${done}`);
  };
}
