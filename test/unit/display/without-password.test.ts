import { expect, test } from "vitest";
import { withoutPassword } from "../../../src/display/redact-url.ts";

test.each([
  ["postgres://ann:secret@db.example/agents", "postgres://ann@db.example/agents"],
  ["postgresql://ann:sec@ret@db.example:5432/agents?x=a@b", "postgresql://ann@db.example:5432/agents?x=a@b"],
  ["postgres://ann:s:e:c@db.example/agents", "postgres://ann@db.example/agents"],
  ["postgres://ann@db.example/agents?a=1&password=secret&b=2", "postgres://ann@db.example/agents?a=1&password=…&b=2"],
  ["postgres://db.example/agents", "postgres://db.example/agents"],
  ["sqlite:a:b@c.db", "sqlite:a:b@c.db"],
])("the address %s is shown as %s", (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
});
