/** Adds every item. As the arguments of one `push`, those of a long thread would overflow the stack. */
export function pushAll<Item>(target: Item[], items: Iterable<Item>): void {
  for (const item of items) target.push(item);
}
