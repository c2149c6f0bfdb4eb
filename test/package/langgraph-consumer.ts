// Type-checked in an empty project against the packed declarations; never run.
import * as langgraph from "threadmark/langgraph";

export const entries: object[] = [langgraph];
