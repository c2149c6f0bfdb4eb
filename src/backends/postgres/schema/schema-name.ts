/** The most bytes of a name that Postgres keeps: it cuts off the rest without an error. */
const mostBytes = 63;

/**
 * Quotes, backslashes and dollar signs begin or end something in SQL. Doubling quotes suffices for a name alone, but the name
 * is also part of a function's body. Control and format characters cannot be seen in a message.
 */
const odd = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}'"`\\$]/u;

/** Such schemas are the server's own; tables in `pg_temp` would end with their connection. */
const reserved = /^(pg_|information_schema$)/;

/** Refuses what is no name for a schema, before anything is sent. */
export function checkSchemaName(name: unknown): void {
  if (typeof name !== "string" || name === "" || Buffer.byteLength(name) > mostBytes) {
    throw new TypeError(`postgres: \`schema\` is a name of 1 to ${mostBytes} bytes.`);
  }
  if (odd.test(name)) {
    throw new TypeError(
      `postgres: the schema ${JSON.stringify(name)} has a character that is not allowed in a name: quotes, \`\\\`, \`$\`, ` +
        "and characters that cannot be seen. Use letters, digits, spaces, `_`, `-` and the like.",
    );
  }
  if (reserved.test(name)) {
    throw new TypeError(`postgres: the schema ${name} is Postgres's own. Choose a name that does not start with pg_.`);
  }
}
