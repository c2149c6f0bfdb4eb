import { ServerFailure } from "../../shared/failure.ts";
import type { Host } from "./address.ts";
import { type Access, Connection } from "./connection.ts";

/** Asks sentinels, one after the other, where the master of a name is now. */
export async function findMaster(access: Access, sentinels: readonly Host[], name: string): Promise<Host> {
  let failure: unknown = new ServerFailure(
    new Error(`no sentinel knows a master ${JSON.stringify(name)}`),
    false,
    true,
  );
  for (const sentinel of sentinels) {
    try {
      const answer = await asked(access, sentinel, name);
      if (answer !== null) return { host: answer[0].toString(), port: Number(answer[1].toString()) };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Sentinels have passwords of their own, mostly none: that of the url is given to those that want one. */
async function asked(access: Access, sentinel: Host, name: string): Promise<readonly [Buffer, Buffer] | null> {
  const open = { ...access, address: { ...access.address, username: undefined, password: undefined, database: 0 } };
  try {
    return await askedBy(open, sentinel, name);
  } catch (error) {
    if (!(error instanceof ServerFailure && error.state === "NOAUTH")) throw error;
    return askedBy({ ...access, address: { ...access.address, database: 0 } }, sentinel, name);
  }
}

async function askedBy(access: Access, sentinel: Host, name: string): Promise<readonly [Buffer, Buffer] | null> {
  const connection = await Connection.open(access, sentinel, () => {});
  try {
    return (await connection.send(["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name])) as readonly [Buffer, Buffer] | null;
  } finally {
    connection.close();
  }
}
