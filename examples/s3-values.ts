/**
 * Keeps large values in S3, or in anything that speaks its protocol (MinIO, R2, Ceph). No SDK: a driver needs four requests,
 * signed with version 4 of Amazon's signatures.
 *
 * @example
 * const driver = s3({ endpoint: "https://s3.eu-central-1.amazonaws.com", bucket: "agent-values", prefix: "prod/", ... });
 * const store = await open("postgres://...", { largeValues: { from: 32_768, driver } });
 */
import { createHash, createHmac } from "node:crypto";
import type { ValueDriver } from "threadmark";

export interface S3Options {
  /** Where the bucket is, as in `http://127.0.0.1:9000`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Comes before every name. It must be for a single store: its compaction deletes what it does not know. */
  readonly prefix?: string;
  readonly region?: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export function s3(options: S3Options): ValueDriver {
  const { endpoint, bucket, prefix = "", region = "us-east-1" } = options;
  const urlOf = (name: string): URL => new URL(`${endpoint}/${bucket}/${prefix}${name}`);
  const send = async (method: string, url: URL, body?: Uint8Array): Promise<Response> => {
    const headers = signedHeaders({ ...options, region, method, url, payload: body ?? "", now: new Date() });
    const response = await fetch(url, { method, headers, ...(body && { body: Buffer.from(body) }) });
    if (response.ok || response.status === 404) return response;
    throw new Error(`${method} ${url.pathname}: ${response.status} ${await response.text()}`);
  };
  return {
    async put(name, bytes) {
      const response = await send("PUT", urlOf(name), bytes);
      if (!response.ok) throw new Error(`There is no bucket ${bucket}.`);
    },
    async get(name) {
      const response = await send("GET", urlOf(name));
      return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
    },
    async delete(name) {
      await send("DELETE", urlOf(name));
    },
    async *list() {
      for (let token: string | undefined, more = true; more; ) {
        const url = new URL(`${endpoint}/${bucket}`);
        url.searchParams.set("list-type", "2");
        url.searchParams.set("prefix", prefix);
        if (token !== undefined) url.searchParams.set("continuation-token", token);
        const xml = await (await send("GET", url)).text();
        for (const [entry] of xml.matchAll(/<Contents>.*?<\/Contents>/gs)) {
          const key = textOf(entry, "Key") ?? "";
          yield { name: key.slice(prefix.length), at: Date.parse(textOf(entry, "LastModified") ?? "") };
        }
        token = textOf(xml, "NextContinuationToken");
        more = textOf(xml, "IsTruncated") === "true" && token !== undefined;
      }
    },
  };
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function textOf(xml: string, element: string): string | undefined {
  const text = new RegExp(`<${element}>([^<]*)</${element}>`).exec(xml)?.[1];
  return text?.replaceAll(/&(\w+);/g, (whole, name: string) => entities[name] ?? whole);
}

export interface Request {
  readonly method: string;
  readonly url: URL;
  readonly payload: string | Uint8Array;
  readonly now: Date;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Further headers to sign. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns the headers of a request, with its signature. */
export function signedHeaders(request: Request): Record<string, string> {
  const { method, url, payload, region, accessKeyId, secretAccessKey } = request;
  const time = request.now.toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const hash = sha256(payload);
  const headers: Record<string, string> = {
    ...request.headers,
    host: url.host,
    "x-amz-content-sha256": hash,
    "x-amz-date": time,
  };
  const names = Object.keys(headers).sort();
  const query = [...url.searchParams]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join("&");
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join("");
  const canonical = [method, url.pathname, query, lines, names.join(";"), hash].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
  const key = ["s3", "aws4_request"].reduce(hmac, hmac(hmac(`AWS4${secretAccessKey}`, day), region));
  const signature = hmac(key, text).toString("hex");
  const { host: _, ...sent } = headers;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  };
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

/** Escapes as the signature wants it: everything but letters, digits and `-_.~`. */
function escaped(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
