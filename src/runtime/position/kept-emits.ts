/** The task under which the kept data of a step is stored against its checkpoint, numbered by index in the order of its emission. */
export const EMITS = "emits";
