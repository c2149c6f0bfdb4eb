/**
 * An instance of a class that is not registered here, as read by a tool that only shows a store: its stored name and
 * data. Storing it again stores the original.
 */
export class UnregisteredInstance {
  readonly name: string;
  readonly data: unknown;

  constructor(name: string, data: unknown) {
    this.name = name;
    this.data = data;
  }
}
