import { invalid } from "./http-error.ts";
import type { Fields } from "./request-body.ts";

/**
 * The parameters of a request, each checked as it is taken. Parameters that no handler takes are refused, since they
 * were misspelt.
 */
export class RequestParameters {
  readonly #fields: Fields;
  readonly #left: Set<string>;

  private constructor(fields: Fields) {
    this.#fields = fields;
    this.#left = new Set(Object.keys(fields));
  }

  static ofQuery(query: URLSearchParams): RequestParameters {
    const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    for (const [name, value] of query) {
      if (name in fields) throw invalid(`${name} is given twice.`);
      fields[name] = value;
    }
    return new RequestParameters(fields);
  }

  static ofBody(fields: Fields): RequestParameters {
    return new RequestParameters(fields);
  }

  /** Refuses parameters that were not taken. Call it after taking all. */
  end(): void {
    const [unknown] = this.#left;
    if (unknown !== undefined) throw invalid(`There is no ${JSON.stringify(unknown)} here.`);
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#fields, name);
  }

  text(name: string): string;
  text(name: string, fallback: string): string;
  text(name: string, fallback?: string): string {
    const value = this.#take(name) ?? fallback;
    if (typeof value !== "string") throw invalid(`${name} must be a text.`);
    return value;
  }

  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  choice<const Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const value = this.#take(name);
    if (value === undefined || value === "") return undefined;
    const found = choices.find((choice) => choice === value);
    if (found === undefined) throw invalid(`${name} must be one of ${choices.join(", ")}.`);
    return found;
  }

  /** Takes a whole number between the bounds; in a query it comes as text. */
  whole(name: string, least: number, most: number, fallback: number): number {
    const value = this.#take(name) ?? fallback;
    const number = typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
    if (!Number.isSafeInteger(number) || (number as number) < least || (number as number) > most) {
      throw invalid(`${name} must be a whole number from ${least} to ${most}.`);
    }
    return number as number;
  }

  flag(name: string): boolean {
    const value = this.#take(name) ?? false;
    if (typeof value !== "boolean") throw invalid(`${name} must be true or false.`);
    return value;
  }

  any(name: string): unknown {
    if (!this.has(name)) throw invalid(`${name} is missing.`);
    return this.#take(name);
  }

  object(name: string): Fields | undefined {
    const value = this.#take(name);
    if (value === undefined) return undefined;
    if (value === null || typeof value !== "object" || Array.isArray(value))
      throw invalid(`${name} must be an object.`);
    return value as Fields;
  }

  /** Takes a list of texts (and numbers), as JSON in a query: a namespace, a path, ids. */
  list<Item extends string | number>(
    name: string,
    most: number,
    isItem: (item: unknown) => item is Item,
  ): readonly Item[] {
    const given = this.#take(name);
    if (given === undefined || given === "") return [];
    let value: unknown = given;
    if (typeof given === "string") {
      try {
        value = JSON.parse(given);
      } catch {
        throw invalid(`${name} must be a list, as JSON.`);
      }
    }
    if (!Array.isArray(value) || value.length > most || !value.every(isItem)) {
      throw invalid(`${name} must be a list of at most ${most} parts.`);
    }
    return value as readonly Item[];
  }

  #take(name: string): unknown {
    this.#left.delete(name);
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }
}

export function isText(item: unknown): item is string {
  return typeof item === "string";
}

export function isStep(item: unknown): item is string | number {
  return typeof item === "string" || (Number.isSafeInteger(item) && (item as number) >= 0);
}
