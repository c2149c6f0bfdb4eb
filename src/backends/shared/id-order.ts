/** Compares thread ids by their UTF-8 bytes, which is the order of their code points. */
export function compareIds(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left === right) continue;
    // A surrogate stands for a code point above every single unit's.
    const leftPaired = (left & 0xf800) === 0xd800;
    const rightPaired = (right & 0xf800) === 0xd800;
    return leftPaired === rightPaired ? left - right : leftPaired ? 1 : -1;
  }
  return a.length - b.length;
}
