import type { Delta } from "../../../codec/delta/index.ts";
import type { Json } from "../../../codec/json.ts";
import { jsonText } from "../../../codec/json-text.ts";
import { type NamedValue, referenceTo } from "../../../codec/references.ts";
import type { EngineContext } from "../../memory/context.ts";
import type { LineageValues } from "../../memory/large-values/known-values.ts";
import { LongTexts } from "../../memory/long-texts.ts";
import { hasPlace, type LargeValue, largeValue } from "../../records/values.ts";
import { LargeParts, type Naming, storedSize } from "./large-parts.ts";

/** A value that a draft inserts, with the text it is remembered by. */
export interface PlannedValue extends LargeValue {
  readonly text: string;
  readonly isString: boolean;
}

/** The large values of one draft: those that it inserts, and whether it refers to stored ones. */
export class DraftValues {
  readonly #context: EngineContext;
  readonly #planned: PlannedValue[] = [];
  readonly #strings = new LongTexts<NamedValue>();
  readonly #others = new LongTexts<NamedValue>();
  #lineage = 0;
  #known: LineageValues | undefined;
  #uses = 0;
  #references = 0;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  get planned(): readonly PlannedValue[] {
    return this.#planned;
  }

  /** Returns how many references were made so far. */
  get references(): number {
    return this.#references;
  }

  /**
   * Returns how many characters the references that were made since count toward the size of a tree: of a large value as
   * many as make it large. A full frame costs no more for a longer one, but reading a value costs more than a reference.
   */
  countedSince(references: number): number {
    const made = this.#references - references;
    return made === 0 ? 0 : made * this.#context.largeFrom;
  }

  get empty(): boolean {
    return this.#planned.length === 0 && this.#uses === 0;
  }

  /** Returns true if there are references to values that the draft does not insert. */
  get refersToStored(): boolean {
    return this.#uses > 0;
  }

  /** Returns the remembered values of the lineage that references were made to. */
  get known(): LineageValues | undefined {
    return this.#known;
  }

  /** Takes over the remembered values of the lineage, which were read for this draft. */
  adopt(known: LineageValues): void {
    this.#known = known;
  }

  /**
   * Returns a change with references in place of its large values. With `grown`, it repeats a tree that was there
   * before: of objects and lists, only those that are stored already become references.
   */
  referDelta(lineage: number, change: Delta, grown = false): Delta {
    return this.#parts(lineage, grown).inDelta(change);
  }

  /** Returns a value of a write with references in place of its large values. */
  referValue(lineage: number, value: Json): Json {
    return this.#parts(lineage, false).inValue(value, true);
  }

  /** Returns about how many characters a full frame of this tree would take. */
  sizeOfFull(lineage: number, tree: Json): number {
    const known = this.#context.values.of(lineage);
    const isStored = (text: string): boolean => (this.#strings.get(text) ?? known?.strings.get(text)) !== undefined;
    return storedSize(tree, this.#context.largeFrom, isStored);
  }

  /** Returns a function that takes back everything noted after this call. */
  mark(): () => void {
    const { length } = this.#planned;
    const uses = this.#uses;
    return () => {
      for (const { text, isString } of this.#planned.splice(length))
        (isString ? this.#strings : this.#others).delete(text);
      this.#uses = uses;
    };
  }

  #parts(lineage: number, grown: boolean): LargeParts {
    if (lineage !== this.#lineage) {
      this.#lineage = lineage;
      this.#known = this.#context.values.of(lineage);
    }
    const naming: Naming = {
      string: (text) => this.#reference(text, true, true),
      container: (json) => this.#reference(json, false, !grown),
    };
    return new LargeParts(this.#context.largeFrom, naming);
  }

  #reference(text: string, isString: boolean, mayInsert: boolean): Json | undefined {
    const planned = (isString ? this.#strings : this.#others).get(text);
    if (planned) return this.#refer(planned);
    const stored = (isString ? this.#known?.strings : this.#known?.others)?.get(text);
    if (stored) {
      this.#uses += 1;
      return this.#refer(stored);
    }
    if (!mayInsert) return undefined;
    const value = largeValue(isString ? jsonText(text) : text, this.#context.nameValue);
    if (!hasPlace(value.name) || this.#context.values.isDisplaced(this.#lineage, value.name)) return undefined;
    this.#planned.push({ ...value, text, isString });
    (isString ? this.#strings : this.#others).add(text, value);
    return this.#refer(value);
  }

  #refer(value: NamedValue): Json {
    this.#references += 1;
    return referenceTo(value);
  }
}
