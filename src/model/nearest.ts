/** Returns the candidate that a mistyped word most likely meant, or undefined when none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bound = Math.max(1, Math.floor(word.length * 0.4)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(word, candidate, bound);
    if (distance < bound) {
      best = candidate;
      bound = distance;
    }
  }
  return best;
}

/** Returns the number of insertions, deletions, substitutions and swaps between two words, at most `bound`. */
function editDistance(left: string, right: string, bound: number): number {
  if (Math.abs(left.length - right.length) >= bound) return bound;
  let earlier: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      let distance = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + cost);
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) distance = Math.min(distance, earlier[column - 2]! + 1);
      current.push(distance);
    }
    if (Math.min(...current) >= bound) return bound;
    earlier = previous;
    previous = current;
  }
  return Math.min(bound, previous[right.length]!);
}
