/**
 * An instance of a class that is not registered here, as a tool that only looks at a store gets it: the name it was
 * stored under and its data. Stored again, it is what it was.
 */
export class UnregisteredInstance {
  readonly name: string;
  readonly data: unknown;

  constructor(name: string, data: unknown) {
    this.name = name;
    this.data = data;
  }
}
