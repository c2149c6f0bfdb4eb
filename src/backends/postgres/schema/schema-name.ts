/** The longest name that Postgres keeps, in bytes: it truncates a longer one without an error. */
const mostBytes = 63;

/**
 * Characters that a name may not have. Quotes, backslashes and dollar signs delimit text in SQL: doubling quotes
 * suffices for a name alone, but the name is also part of a function's body. Control and format characters are
 * invisible in a message.
 */
const odd = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}'"`\\$]/u;

/** The server's own schemas. Tables in `pg_temp` would end with their connection. */
const reserved = /^(pg_|information_schema$)/;

/** Refuses an invalid schema name before anything is sent. `ending`: the bytes that are added to the name. */
export function checkSchemaName(name: unknown, ending = 0): void {
  if (typeof name !== "string" || name === "" || Buffer.byteLength(name) > mostBytes - ending) {
    throw new TypeError(`postgres: \`schema\` is a name of 1 to ${mostBytes - ending} bytes.`);
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
