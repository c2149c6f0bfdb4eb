import { checkInteger, checkKeys, checkObject, type Fields } from "../checks.ts";

const keys = ["version", "migrate", "check"] as const;

/** Checks the `schema` option of `open`: one schema, schemas by workflow, or both. */
export function checkStateSchemas(value: unknown, what: string): void {
  const fields = checkObject(value, what);
  checkKeys(fields, [...keys, "workflows"], `The object ${what}`);
  const { workflows } = fields;
  if (workflows === undefined || keys.some((key) => fields[key] !== undefined)) checkSchema(fields, what);
  if (workflows === undefined) return;
  for (const [name, schema] of Object.entries(checkObject(workflows, `${what}.workflows`))) {
    const place = `${what}.workflows[${JSON.stringify(name)}]`;
    const own = checkObject(schema, place);
    checkKeys(own, keys, `The object ${place}`);
    checkSchema(own, place);
  }
}

function checkSchema({ version, migrate, check }: Fields, what: string): void {
  checkInteger(version, `${what}.version`, 1);
  for (const [from, step] of Object.entries(checkObject(migrate ?? {}, `${what}.migrate`))) {
    const place = `${what}.migrate[${JSON.stringify(from)}]`;
    if (!/^[1-9]\d*$/.test(from) || Number(from) >= (version as number)) {
      const range = version === 1 ? "there is none to migrate from" : `versions are 1 to ${(version as number) - 1}`;
      throw new TypeError(`${place} is no version to migrate from: with version ${version as number}, ${range}.`);
    }
    if (typeof step !== "function") throw new TypeError(`${place} must be a function of the state.`);
  }
  if (check === undefined) return;
  const standard = (check as { readonly "~standard"?: { readonly validate?: unknown } } | null)?.["~standard"];
  if (typeof standard?.validate !== "function") {
    throw new TypeError(`${what}.check must be a Standard Schema, such as those of zod, valibot and arktype.`);
  }
}
