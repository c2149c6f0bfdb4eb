import { ThreadmarkError } from "../errors.ts";
import { issuesText, type StandardSchema } from "./interface/standard-schema.ts";

/** The version of a program's states, and how older states become newer ones. */
export interface StateSchema {
  /** The version that the program writes: a whole number of at least 1. */
  readonly version: number;
  /**
   * By version, the function that makes a state of that version into one of the next. It must be pure; it may change the
   * state it is given, which is its own. @default {}
   */
  // biome-ignore lint/suspicious/noExplicitAny: each function takes the state of another version, which only its author knows.
  readonly migrate?: { readonly [version: number]: (state: any) => unknown };
  /** Checks a state that was migrated: any Standard Schema, as of zod, valibot or arktype. @default no check */
  readonly check?: StandardSchema;
}

/** Schemas by workflow; a schema beside them is for all other workflows. */
export type StateSchemas = StateSchema | (Partial<StateSchema> & { readonly workflows: WorkflowSchemas });

interface WorkflowSchemas {
  readonly [workflow: string]: StateSchema;
}

/** A checkpoint as far as its version is concerned. */
export interface Versioned {
  readonly thread: string;
  readonly checkpoint: string;
  /** True for the root namespace. A nested graph has a state of its own, and a schema by its own workflow only. */
  readonly isRoot: boolean;
  readonly workflow: string | null;
  readonly stateVersion: number;
}

/** Returns the version that a checkpoint counts as: the first, where none was written. */
export function effectiveVersion(stateVersion: number): number {
  return stateVersion === 0 ? 1 : stateVersion;
}

/** Knows the version of each workflow's states, and brings older states up to it. */
export class StateVersions {
  readonly #others: StateSchema | undefined;
  readonly #workflows: ReadonlyMap<string, StateSchema>;
  /** Schemas of graphs, by workflow: a graph's version is its workflow's. */
  readonly #graphs = new Map<string, StateSchema>();

  constructor(schemas: StateSchemas) {
    this.#others = schemas.version === undefined ? undefined : (schemas as StateSchema);
    this.#workflows = new Map("workflows" in schemas ? Object.entries(schemas.workflows) : []);
  }

  /**
   * Takes the version of a graph as that of its workflow; of several, the last. A workflow that the store's own schema names
   * must have the same version there.
   */
  adopt(workflow: string, schema: StateSchema): void {
    const own = this.#workflows.get(workflow);
    if (own !== undefined && own.version !== schema.version) {
      throw new TypeError(
        `Workflow ${JSON.stringify(workflow)} has version ${own.version} in the store's schema, and its graph has version ${schema.version}. Give it in one place.`,
      );
    }
    this.#graphs.set(workflow, schema);
  }

  /** Returns the version that the program writes; undefined where it has no schema. */
  versionFor({ workflow, isRoot }: Pick<Versioned, "workflow" | "isRoot">): number | undefined {
    return this.#schemaFor(workflow, isRoot)?.version;
  }

  /** Returns true if a state must be migrated before it is used. Throws `VERSION` for one that a newer program wrote. */
  isOlder(subject: Versioned): boolean {
    const version = this.versionFor(subject);
    if (version === undefined) return false;
    const from = effectiveVersion(subject.stateVersion);
    if (from > version) throw newer(subject, version);
    return from < version;
  }

  /** Returns a state as the program's version has it. The state is changed or used, and must be the caller's own. */
  async upgrade(state: unknown, subject: Versioned): Promise<unknown> {
    if (!this.isOlder(subject)) return state;
    const { version, migrate = {}, check } = this.#schemaFor(subject.workflow, subject.isRoot) as StateSchema;
    let current = state;
    for (let from = effectiveVersion(subject.stateVersion); from < version; from += 1) {
      const step = Object.hasOwn(migrate, from) ? migrate[from] : undefined;
      if (step === undefined) throw failed(subject, from, `there is no migrate[${from}]`);
      try {
        current = step(current);
      } catch (error) {
        throw failed(
          subject,
          from,
          `migrate[${from}] threw: ${error instanceof Error ? error.message : String(error)}`,
          error,
        );
      }
      if (current instanceof Promise) {
        // Its rejection would be nobody's.
        current.catch(() => {});
        throw failed(subject, from, `migrate[${from}] returned a promise; it must return the state`);
      }
      if (current === undefined)
        throw failed(subject, from, `migrate[${from}] returned nothing; it must return the state`);
    }
    if (check === undefined) return current;
    const validation = await check["~standard"].validate(current);
    if (validation.issues === undefined) return validation.value;
    throw failed(subject, version - 1, `the migrated state does not fit: ${issuesText(validation.issues)}`);
  }

  #schemaFor(workflow: string | null, isRoot: boolean): StateSchema | undefined {
    const own = workflow === null ? undefined : (this.#workflows.get(workflow) ?? this.#graphs.get(workflow));
    return own ?? (isRoot ? this.#others : undefined);
  }
}

function newer({ thread, checkpoint, stateVersion }: Versioned, version: number): ThreadmarkError {
  return new ThreadmarkError(
    "VERSION",
    `Thread ${JSON.stringify(thread)}: the state of checkpoint ${JSON.stringify(checkpoint)} has version ${stateVersion}, this program knows versions up to ${version}. Run the newer program.`,
    { thread, checkpoint },
  );
}

function failed({ thread, checkpoint }: Versioned, from: number, fault: string, cause?: unknown): ThreadmarkError {
  return new ThreadmarkError(
    "VERSION",
    `Thread ${JSON.stringify(thread)}: the state of checkpoint ${JSON.stringify(checkpoint)} cannot be migrated from version ${from}: ${fault}. Nothing was written; correct the migration.`,
    { thread, checkpoint, cause },
  );
}
