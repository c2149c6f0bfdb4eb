import assert from "node:assert/strict";
import { inspect, journals, lastBatchAt, openAt, type Specimen } from "./damage.ts";
import { below, seeded } from "./random.ts";

/** Flips one bit of every `stride`-th byte of a journal, one after the other. */
export async function checkFlips(specimen: Specimen, path: string, stride: number): Promise<void> {
  const whole = specimen.disk.contentOf(path);
  const end = lastBatchAt(whole);
  // Newlines are what holds lines apart: all of them, whatever the stride.
  for (let offset = 0; offset < whole.length; offset++) {
    if (offset % stride !== 0 && whole[offset] !== 0x0a) continue;
    const flipped = Buffer.from(whole);
    flipped[offset] = (flipped[offset] as number) ^ (1 << ((offset * 7) % 8));
    specimen.disk.overwrite(path, flipped);
    const backend = await openAt(specimen.disk);
    const { corrupt, isNow, isBefore } = await inspect(backend, specimen);
    const when = `byte ${offset} of ${path}: ${flipped.toString("utf8", Math.max(0, offset - 30), offset + 30)}`;
    for (const one of journals) {
      if (one === path && offset >= end) assert.ok(isBefore.get(one) && corrupt.length === 0, `not cut: ${when}`);
      else assert.ok(isNow.get(one), `a wrong value: ${when}`);
    }
    assert.ok(corrupt.length <= 1, `more is corrupt than the one record (${corrupt}): ${when}`);
    assert.notEqual((await backend.verify()).length, 0, `verify saw nothing: ${when}`);
    await backend.close();
  }
  specimen.disk.overwrite(path, whole);
}

/** Puts rubbish somewhere before the last batch of a journal, in several places. */
export async function checkScars(specimen: Specimen, count: number, seed: number): Promise<void> {
  const random = seeded(seed);
  for (let round = 0; round < count; round++) {
    const path = journals[below(random, 3)] as string;
    const whole = specimen.disk.contentOf(path);
    const end = lastBatchAt(whole);
    const scarred = Buffer.from(whole);
    for (let scars = 1 + below(random, 3); scars > 0; scars--) {
      const from = below(random, end);
      const to = Math.min(end, from + below(random, random() < 0.5 ? 10 : 600));
      const rubbish = Buffer.from(Array.from({ length: to - from }, () => below(random, 256)));
      // Zeros are what a lost sector reads as; newlines and old lines in the wrong place are what editors leave.
      const kind = random();
      if (kind < 0.3) scarred.fill(0, from, to);
      else if (kind < 0.4) scarred.fill(0x0a, from, to);
      else if (kind < 0.5) whole.copy(scarred, from, below(random, end), below(random, end));
      else rubbish.copy(scarred, from);
    }
    whole.copy(scarred, end, end);
    specimen.disk.overwrite(path, scarred);
    const backend = await openAt(specimen.disk);
    const { isNow, corrupt } = await inspect(backend, specimen);
    for (const one of journals) {
      assert.ok(isNow.get(one), `round ${round}: a wrong value from ${one} (and ${corrupt.length} corrupt)`);
    }
    await backend.close();
    specimen.disk.overwrite(path, whole);
  }
}
