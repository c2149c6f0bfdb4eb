import { expect, test } from "vitest";
import { notAnswered } from "../../../../src/backends/postgres/connection/failure.ts";

function serverError(code: string, message: string, severity = "ERROR"): Error {
  return Object.assign(new Error(message), { code, severity });
}

test.each([
  ["57P01", "terminating connection due to administrator command"],
  ["57P02", "terminating connection because of crash of another server process"],
  [
    "08006",
    "connection to the remote node 127.0.0.1:5432 failed with the following error: server closed the connection",
  ],
  ["XX000", "postmaster was shut down, exiting"],
  ["XX000", "could not commit transaction for shard 102008 on any active node"],
  ["XX000", "failure on connection marked as essential: 127.0.0.1:5432"],
])("an error %s of a node of Citus, %s, leaves open whether it was applied, and is tried again", (code, message) => {
  expect(notAnswered(serverError(code, message))).toMatchObject({ mayHaveApplied: true, passing: true });
});

test.each([
  ["XX000", "cache lookup failed for type 1"],
  ["23505", "duplicate key value violates unique constraint"],
  ["42P01", "relation does not exist"],
])("an error %s, %s, rolled its statement back, and is not tried again", (code, message) => {
  expect(notAnswered(serverError(code, message))).toMatchObject({ mayHaveApplied: false, passing: false });
});
