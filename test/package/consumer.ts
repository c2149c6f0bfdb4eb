// Type-checked in an empty project against the packed declarations, libraries checked too; never run.
import { open, ThreadmarkError } from "threadmark";
import * as file from "threadmark/file";
import * as postgres from "threadmark/postgres";
import * as runtime from "threadmark/runtime";
import * as sqlite from "threadmark/sqlite";
import * as testing from "threadmark/testing";

const store = await open<{ messages: string[] }>("memory:");
const latest = await store.thread("a").latest();
export const messages: string[] | undefined = latest?.state.messages;
// @ts-expect-error: a state of another type is refused at compile time.
await store.thread("a").put({ state: { messages: [1] } });
export const entries: object[] = [file, postgres, runtime, sqlite, testing, ThreadmarkError];
