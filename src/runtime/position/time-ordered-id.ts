/** Returns an id that sorts by time (a UUID of version 7), for checkpoints whose writes are saved before they are. */
export function timeOrderedId(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  const random = crypto.randomUUID();
  // Version 7. The first bit of the rest is set, because it is not in the ids that the store gives.
  const version = (0x7000 | (Number.parseInt(random.slice(15, 18), 16) & 0x0fff) | 0x0800).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}${random.slice(18)}`;
}
