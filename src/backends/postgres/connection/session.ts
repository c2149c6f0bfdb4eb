import { ServerFailure } from "../../shared/failure.ts";
import { notAnswered } from "./failure.ts";
import type { ClientLike, QueryResult } from "./pool.ts";

/**
 * The known state of the session behind a connection. Every user of the connection's pool may have changed the session:
 * left it inside a transaction, or set another encoding.
 */
interface Session {
  /** `I` outside of a transaction, `T` inside, `E` inside a failed one; undefined while unknown. */
  transaction: string | undefined;
  /** Undefined while unknown. */
  encoding: string | undefined;
  /** Whether the default isolation level was checked. */
  checked: boolean;
  /** Whether commits were synced before they were acknowledged, when that was asked. */
  synced: boolean;
}

/** Sessions by the underlying connection, which a pool may hand out in several wrappers. */
const sessions = new WeakMap<object, Session>();

function sessionOf(client: ClientLike): Session {
  const wire = client.connection ?? client;
  const known = sessions.get(wire);
  if (known !== undefined) return known;
  const session: Session = { transaction: undefined, encoding: undefined, checked: false, synced: false };
  sessions.set(wire, session);
  // The server repeats both whenever they change, so they stay known at no cost for the life of the connection.
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

/** Returns whether the connection is known to be inside a transaction. */
export function isInTransaction(client: ClientLike): boolean {
  const transaction = transactionOf(client);
  return transaction !== undefined && transaction !== "I";
}

/** Fails if a statement would not be, or was not, a transaction of its own. `ran`: the statement has been sent. */
export function refuseTransaction(client: ClientLike, ran: boolean): void {
  if (!isInTransaction(client)) return;
  const fault = "a connection came from its pool inside a transaction that somebody had left open";
  // A statement inside the transaction is lost with it, unless the transaction's owner still commits.
  throw new ServerFailure(new Error(fault), ran, true, "left");
}

/** Fails if the session acknowledges commits before they are synced. Called after the session was checked. */
export function refuseUnsynced(client: ClientLike): void {
  if (sessionOf(client).synced) return;
  throw new ServerFailure(new Error("a connection has synchronous_commit off"), false, false, "unsynced");
}

/** Returns whether a statement may run without a check of the session. */
export function isFit(client: ClientLike): boolean {
  const { checked, encoding } = sessionOf(client);
  return checked && encoding === "UTF8" && client.connection !== undefined && transactionOf(client) === "I";
}

const settings =
  "select current_setting('client_encoding'), current_setting('default_transaction_isolation'), " +
  "current_setting('synchronous_commit') <> 'off'";

/**
 * Checks the settings that would change the meaning of statements, and fails if one does. Runs before a connection's
 * first statement; before every statement where changes go unnoticed, as with the driver's native client.
 */
export async function checkSession(client: ClientLike): Promise<void> {
  const session = sessionOf(client);
  refuseTransaction(client, false);
  const [encoding, isolation, synced] = await ask(client);
  session.encoding = encoding;
  session.synced = synced === "true" || synced === "t";
  refuseTransaction(client, false);
  if (transactionOf(client) === undefined) {
    throw new ServerFailure(
      new Error("the driver does not tell whether a connection is in a transaction"),
      false,
      false,
      "driver",
    );
  }
  if (encoding !== "UTF8") {
    throw new ServerFailure(new Error(`a connection has the client_encoding ${encoding}`), false, false, "encoding");
  }
  if (isolation === "repeatable read") {
    const fault = "the connections' default_transaction_isolation is repeatable read";
    throw new ServerFailure(new Error(fault), false, false, "isolation");
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
    // A query of settings changes nothing, whatever happened to it.
    throw new ServerFailure(failure.cause, false, failure.passing, failure.state);
  }
}
