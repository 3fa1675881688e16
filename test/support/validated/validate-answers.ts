import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { afterAll, expect } from '@jest/globals';
import { gatewayUrls } from './gateways.js';
import { RECORDED } from './recorded-answers.mjs';
import { contractViolations } from './validating-proxy.mjs';

/** Direct `fetch`. This file makes a test file fail on any gateway response that the OpenAPI document does not contain. */
const direct = globalThis.fetch;
const { RECORDED_ANSWERS_URL: recorder = '', VALIDATING_PROXY_URL: proxy = '' } = process.env;
const pending = new Set<Promise<void>>();
const violations: unknown[] = [];

globalThis.fetch = async (input, init) => {
  const asked = new Request(input, init);
  const response = await direct(input, init);
  const url = new URL(asked.url);
  if (gatewayUrls.has(url.origin)) follow(asked.method, url, response);
  return response;
};

function follow(method: string, url: URL, response: Response): void {
  const isStream = (response.headers.get('content-type') ?? '').startsWith('text/event-stream');
  const copy = isStream || method === 'HEAD' ? undefined : response.clone();
  const judging = judge(method, url, response, copy)
    .catch((error: unknown) => violations.push({ request: `${method} ${url.pathname}`, error: `not judged: ${String(error)}` }))
    .then(() => void pending.delete(judging));
  pending.add(judging);
}

/** A body that is cut off, or whose reader went away, is none to judge. Streams and answers to HEAD are judged without body. */
async function judge(method: string, url: URL, { status, headers }: Response, copy: Response | undefined): Promise<void> {
  const body = copy === undefined ? Buffer.alloc(0) : await copy.arrayBuffer().then(Buffer.from, () => undefined);
  if (body === undefined) return;
  const id = randomUUID();
  // Headers of the connection or of the encoding; the body here is decoded.
  const hidden = new Set(['connection', 'content-encoding', 'content-length', 'keep-alive', 'transfer-encoding']);
  const shown = Object.fromEntries([...headers].filter(([name]) => !hidden.has(name)));
  const record = { status, headers: shown, body: body.toString('base64') };
  await direct(`${recorder}/record`, { method: 'POST', headers: { [RECORDED]: id }, body: JSON.stringify(record) });
  const found = await violationsOf(proxy + decodable(url.pathname) + url.search, method, id);
  for (const violation of contractViolations(found))
    if (copy !== undefined || violation.location[1] !== 'body')
      violations.push({ request: `${method} ${url.pathname}`, status, violation, body: body.toString().slice(0, 500) });
}

/** On a connection of its own: Prism closes idle ones at any time, also while a request is on its way. */
async function violationsOf(url: string, method: string, id: string): Promise<string | null> {
  const asked = request(url, { method, headers: { [RECORDED]: id }, agent: false }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  return String(answer.headers['sl-violations'] ?? '') || null;
}

/** Prism ends at a path that cannot be decoded. */
function decodable(path: string): string {
  try {
    decodeURIComponent(path);
    return path;
  } catch {
    return path.replaceAll('%', '%25');
  }
}

afterAll(async () => {
  globalThis.fetch = direct; // The files that follow in this process share it.
  while (pending.size > 0) await Promise.all(pending);
  expect(violations).toEqual([]);
});
