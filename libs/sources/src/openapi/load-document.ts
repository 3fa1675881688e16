import { open } from 'node:fs/promises';
import { type Document, isScalar, isSeq, parseDocument as documentOf, visit } from 'yaml';
import type { EgressFetch } from '#sandbox';
import { boundedBody } from '../bounded-body.js';

const MAX_BYTES = 33_554_432;
/** YAML is read many times slower than JSON, and holds the process while it is. */
const MAX_YAML_BYTES = 2_097_152;
const MAX_ALIASES = 100;
/** Merge keys are of YAML 1.1, which writers of documents still use. Of a doubled key the last one counts, as in JSON. */
const YAML = { logLevel: 'silent', merge: true, uniqueKeys: false } as const;

/** The text of a document of the operator's disk. */
export async function readDocument(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size > MAX_BYTES) throw tooLarge();
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** The text of a document on the network. Redirects are not followed: headers must not reach other hosts. */
export async function fetchDocument(
  url: string,
  { fetch }: EgressFetch,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch(url, { headers: { accept: 'application/json, application/yaml, */*;q=0.5', ...headers }, signal });
  const body = await boundedBody(response, MAX_BYTES);
  if (response.status !== 200) {
    const to = response.headers.get('location');
    throw new Error(
      `the document was answered with the status ${response.status}${to === null ? '' : `, which points to ${to.slice(0, 200)}`}`,
    );
  }
  if (body === undefined) throw tooLarge();
  return body.toString();
}

/** JSON where the first character says so, else YAML. @throws Error in words for the operator */
export function parseDocument(text: string): unknown {
  const trimmed = text.trimStart();
  try {
    return trimmed.startsWith('{') || trimmed.startsWith('[') ? parseJson(trimmed) : parseYaml(text);
  } catch (error) {
    throw new Error(`the document cannot be read: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`, {
      cause: error,
    });
  }
}

/** Written by hand it may have what JSON forbids and YAML allows: a comma at the end, single quotes. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (text.length > MAX_YAML_BYTES) throw error;
    const document = documentOf(text, YAML);
    if (document.errors.length > 0) throw error;
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  }
}

function parseYaml(text: string): unknown {
  if (text.length > MAX_YAML_BYTES) throw new Error(`YAML documents have at most ${MAX_YAML_BYTES} bytes; convert it to JSON`);
  const document = documentOf(text, YAML);
  const [error] = document.errors;
  if (error !== undefined) throw error;
  keepTexts(document);
  return document.toJS({ maxAliasCount: MAX_ALIASES });
}

/** Values of a text that stand without quotes: `enum: [1.0, on]` of versions and words. */
function keepTexts(document: Document): void {
  visit(document, {
    Map: (_key, map) => {
      if (map.get('type') !== 'string') return;
      const values = ['enum', 'default', 'const'].map((key) => map.get(key, true));
      for (const value of values.flatMap((it) => (isSeq(it) ? it.items : [it])))
        if (isScalar(value) && (typeof value.value === 'number' || typeof value.value === 'boolean')) value.value = value.source;
    },
  });
}

const tooLarge = () => new Error(`the document is larger than ${MAX_BYTES} bytes`);
