import type { Place } from "../environment/place.ts";
import { stringify } from "./json.ts";
import { rawPostgres } from "./raw-postgres.ts";
import { rawSqlite } from "./raw-sqlite.ts";
import { memorySaver, postgresSaver, sqliteSaver, threadmarkSaver } from "./savers.ts";
import type { System } from "./system.ts";
import { backends, threadmark } from "./threadmark.ts";

/** Everything that is measured, side by side. */
export function systemsOn(place: Place): readonly System[] {
  const client = place.client.bind(place);
  return [
    ...backends.flatMap((kind) => [
      threadmark(kind, "update", client),
      threadmark(kind, "state", client),
      threadmarkSaver(kind, client),
    ]),
    memorySaver,
    sqliteSaver(),
    sqliteSaver(true),
    postgresSaver(client),
    postgresSaver(client, true),
    rawSqlite("change"),
    rawSqlite("state"),
    rawPostgres(client),
    stringify,
  ];
}
