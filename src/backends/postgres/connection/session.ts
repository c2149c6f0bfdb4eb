import { Failure, notAnswered } from "./failure.ts";
import type { ClientLike, QueryResult } from "./pool.ts";

/**
 * What the server has told of the session behind a connection. A connection comes from a pool, and every user of that pool
 * may have changed the session: left it inside a transaction, or set another encoding.
 */
interface Session {
  /** `I` outside of a transaction, `T` inside, `E` inside one that failed; undefined before it was told. */
  transaction: string | undefined;
  /** Undefined before it was asked for. */
  encoding: string | undefined;
  /** The default isolation level was looked at. */
  checked: boolean;
}

/** Sessions by the wire they are reached over, which a pool may hand out under several faces. */
const sessions = new WeakMap<object, Session>();

function sessionOf(client: ClientLike): Session {
  const wire = client.connection ?? client;
  const known = sessions.get(wire);
  if (known !== undefined) return known;
  const session: Session = { transaction: undefined, encoding: undefined, checked: false };
  sessions.set(wire, session);
  // The server repeats both whenever they change, so that they are known at no cost for the rest of the connection's life.
  client.connection?.on("readyForQuery", ({ status }: { readonly status?: string }) => {
    session.transaction = status;
  });
  client.connection?.on(
    "parameterStatus",
    (told: { readonly parameterName: string; readonly parameterValue: string }) => {
      if (told.parameterName === "client_encoding") session.encoding = told.parameterValue;
    },
  );
  return session;
}

function transactionOf(client: ClientLike): string | undefined {
  return client.getTransactionStatus?.() ?? sessionOf(client).transaction;
}

/** Whether the connection is inside a transaction, as far as the server has told. */
export function isInTransaction(client: ClientLike): boolean {
  const transaction = transactionOf(client);
  return transaction !== undefined && transaction !== "I";
}

/** Fails if a statement would not be, or was not, a transaction of its own. `ran`: the statement has been sent. */
export function refuseTransaction(client: ClientLike, ran: boolean): void {
  if (!isInTransaction(client)) return;
  const fault = "a connection came from its pool inside a transaction that somebody had left open";
  // A statement inside it is lost with it, unless whoever left it open still ends it.
  throw new Failure(new Error(fault), ran, true, "left");
}

/** Whether nothing has to be asked of the server before a statement may run. */
export function isFit(client: ClientLike): boolean {
  const { checked, encoding } = sessionOf(client);
  return checked && encoding === "UTF8" && client.connection !== undefined && transactionOf(client) === "I";
}

const settings = "select current_setting('client_encoding'), current_setting('default_transaction_isolation')";

/**
 * Asks for the settings under which our statements would mean something else, and fails if there is one: a connection's
 * first statement of ours. Where changes of them cannot be heard, as with the driver's native client, it precedes every one.
 */
export async function checkSession(client: ClientLike): Promise<void> {
  const session = sessionOf(client);
  refuseTransaction(client, false);
  const [encoding, isolation] = await ask(client);
  session.encoding = encoding;
  refuseTransaction(client, false);
  if (transactionOf(client) === undefined) {
    throw new Failure(
      new Error("the driver does not tell whether a connection is in a transaction"),
      false,
      false,
      "driver",
    );
  }
  if (encoding !== "UTF8") {
    throw new Failure(new Error(`a connection has the client_encoding ${encoding}`), false, false, "encoding");
  }
  if (isolation === "repeatable read") {
    const fault = "the connections' default_transaction_isolation is repeatable read";
    throw new Failure(new Error(fault), false, false, "isolation");
  }
  session.checked = true;
}

async function ask(client: ClientLike): Promise<readonly string[]> {
  try {
    const types = { getTypeParser: () => String };
    const { rows } = (await client.query({ text: settings, rowMode: "array", types })) as QueryResult;
    return rows[0] as readonly string[];
  } catch (cause) {
    const failure = notAnswered(cause);
    // A question changes nothing, whatever became of it.
    throw new Failure(failure.cause, false, failure.passing, failure.state);
  }
}
