import { PostgresServer } from "../../test/support/postgres/server.ts";

/** The Postgres server of a run, started when it is first asked for: or the one that `THREADMARK_TEST_POSTGRES` names. */
export class SharedServer {
  #started: Promise<PostgresServer> | undefined;

  readonly url = async (): Promise<string> => {
    const given = process.env["THREADMARK_TEST_POSTGRES"];
    if (given !== undefined) return given;
    this.#started ??= PostgresServer.start();
    return (await this.#started).url();
  };

  async stop(): Promise<void> {
    await (await this.#started)?.stop();
  }
}
