import fc from "fast-check";

/**
 * Gives every property test the same seed in each run of `npm test`, so that a verdict depends on the code alone.
 * `THREADMARK_SEED=random npm test` looks at other cases, and so does `npm run test:long`; a number repeats a run.
 */
const wanted = process.env.THREADMARK_SEED ?? "20261118";
if (wanted !== "random") fc.configureGlobal({ seed: Number(wanted) });
