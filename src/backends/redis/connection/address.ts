export interface Host {
  readonly host: string;
  readonly port: number;
}

/** A url, taken apart. */
export interface ServerAddress {
  readonly hosts: readonly Host[];
  readonly tls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  readonly cluster: boolean;
  /** The name of the master that sentinels at the hosts watch. */
  readonly sentinel: string | undefined;
  /** The url without its password, for messages. */
  readonly shown: string;
}

const form = /^(rediss?):\/\/(?:([^@/]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/;

/**
 * Parses `redis://user:password@host:port,host:port/database?cluster`. Several hosts are a cluster, unless `sentinel` names a
 * master. A TypeError never shows the password.
 */
export function parseAddress(url: string): ServerAddress {
  const [, scheme, credentials, hostList = "", path = "", query = ""] = form.exec(url) ?? misuse("is no redis url");
  const [username, password] = splitOnce(credentials ?? "", ":").map(decoded);
  const sentinel = parameters(query).get("sentinel");
  const hosts = hostList.split(",").map((text) => hostOf(text, sentinel === undefined ? 6379 : 26_379));
  const asked = parameters(query).has("cluster");
  if (asked && sentinel !== undefined) misuse("asks for a cluster and for sentinels");
  const cluster = asked || (hosts.length > 1 && sentinel === undefined);
  if (!/^\d{0,5}$/.test(path)) misuse("has a database that is no number");
  const database = Number(path);
  if (cluster && database !== 0) misuse("has a database number: a cluster has none");
  return {
    hosts,
    tls: scheme === "rediss",
    username: username || undefined,
    password: password || undefined,
    database,
    cluster,
    sentinel,
    shown: `${scheme}://${hosts.map(({ host, port }) => nameOf({ host, port })).join(",")}`,
  };
}

/** Returns `host:port`, with brackets around an IPv6 address. */
export function nameOf({ host, port }: Host): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function parameters(query: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(query)) {
    if (name !== "cluster" && name !== "sentinel") misuse(`has an unknown parameter ${JSON.stringify(name)}`);
    if (name === "sentinel" && value === "") misuse("names no master, as in ?sentinel=mymaster");
    if (name === "cluster" && value === "false") continue;
    found.set(name, value);
  }
  return found;
}

function hostOf(text: string, port: number): Host {
  const [, bracketed, plain, given] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(text) ?? misuse("lacks a host");
  const number = given === undefined ? port : Number(given);
  if (number === 0 || number > 65_535) misuse("has a port that is none");
  return { host: (bracketed ?? plain) as string, port: number };
}

function splitOnce(text: string, by: string): readonly [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return misuse("has a user or password that is not percent-encoded");
  }
}

function misuse(fault: string): never {
  throw new TypeError(
    `redis: the url ${fault}. Use redis://host:port, rediss://… or redis://host:port,host:port/?cluster.`,
  );
}
