import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { SourceDefinition, type StoredSource } from '#contracts';
import type { ToolContext } from '#tool-sdk';
import { mcpConnector } from '../testing/mcp-connector.js';

/** A server that writes its answer to a call as `WRITE` says: `out` writes bytes, `text` is the answer without a line end. */
const PROGRAM = `
const out = (data) => require('fs').writeSync(1, data);
const results = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'lines', version: '1' } },
  'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'd\u00f6ne' }] },
};
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const rest = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } };
  const text = JSON.stringify({ jsonrpc: '2.0', id, ...rest });
  const pretty = JSON.stringify(JSON.parse(text), null, 2) + '\\n';
  if (method !== 'tools/call') return out(text + '\\n');
  WRITE
});`;
const TWO_PIECES = `const bytes = Buffer.from(text + '\\n'); const at = bytes.indexOf(0xc3) + 1;
  out(bytes.subarray(0, at)); setImmediate(() => out(bytes.subarray(at)));`;
const FRAMED = "'Content-Length: ' + Buffer.byteLength(text) + '\\r\\n";
const ASKS = '{"jsonrpc":"2.0","id":1,"method":"ping"}\\n{"jsonrpc":"2.0","id":"x","method":"x/unknown","params":7}\\n';

describe('McpConnector with a program that writes odd lines', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-lines-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const open = (program: string, signal: AbortSignal) => {
    const command = [process.execPath, '-e', program];
    const stored: StoredSource = { tenantId: 't', origin: 'api', definition: SourceDefinition.parse({ name: 'x', kind: 'mcp', command }) };
    const connector = mcpConnector([], { folder });
    return connector.open(stored, signal);
  };
  const call = async (write: string) => {
    const connection = await open(
      PROGRAM.replace('WRITE', () => write),
      AbortSignal.timeout(30_000),
    );
    const ctx = { signal: AbortSignal.timeout(20_000), deadline: Date.now() + 20_000, onProgress: () => {} } as unknown as ToolContext;
    return connection.call('t', {}, ctx).finally(() => connection.close());
  };

  it.each([
    ['without a line end, and ends', 'out(text); process.exit(0);'],
    ['after a line of a log', "out('starting\\n' + text + '\\n');"],
    ['after lines of JSON that are no messages', `out('{"level":"info"}\\n[]\\nnull\\n7\\n"x"\\n' + text + '\\n');`],
    ['after empty lines', "out('\\n\\r\\n' + text + '\\n');"],
    ['with CRLF', "out(text + '\\r\\n');"],
    ['after a byte order mark', "out('\\ufeff' + text + '\\n');"],
    ['with a character in two pieces', TWO_PIECES],
    ['after bytes that are no UTF-8', "out(Buffer.from([0xff, 0xfe, 10])); out(text + '\\n');"],
    ['twice', "out(text + '\\n' + text + '\\n');"],
    ['after a header of its length', "out('Content-Length: ' + Buffer.byteLength(text) + '\\r\\n\\r\\n' + text + '\\n');"],
    ['in a frame of a language server', `out(${FRAMED}\\r\\n' + text);`],
    [
      'in a frame with two headers, after another one',
      `out(${FRAMED}Content-Type: application/vscode-jsonrpc\\r\\n\\r\\n' + text); out(${FRAMED}\\r\\n' + text);`,
    ],
    ['in a frame whose length is of characters', "out('Content-Length: ' + text.length + '\\r\\n\\r\\n' + text + '\\n');"],
    ['in a frame whose length is too large', "out('Content-Length: ' + 2 * text.length + '\\r\\n\\r\\n' + text);"],
    ['over several lines', 'out(pretty);'],
    ['over several lines, in a frame whose length is too large', "out('Content-Length: 900\\r\\n\\r\\n' + pretty);"],
    ['with raw control characters', `out(text.replace('"id"', '"odd":"\\t\\n\\\\x1b","id"') + '\\n');`],
    ['with NaN and a comma at the end', "out(text.replace(/}$/, ',\"odd\":NaN,}') + '\\n');"],
    ['after a log without a line end', "out('Listening... ' + text + '\\n');"],
    ['after requests of its own', `out('${ASKS}' + text + '\\n');`],
    ['after the answer to another request', "out(text.replace(/\"id\":\\d+/, '\"id\":999') + '\\n' + text + '\\n');"],
  ])('reads an answer that arrives %s', async (_what, write) => {
    expect(await call(write)).toMatchObject({ content: [{ type: 'text', text: 'd\u00f6ne' }] });
  });

  it.each([
    ['reads frames', "process.stdout.write('Content-Length: 2\\r\\n\\r\\n')", /Content-Length headers.*one JSON message a line/],
    ['writes nothing', '', /wrote no message.*one JSON message a line/],
  ])('tells the maker of a program how to write messages if it %s and answers nothing', async (_what, code, why) => {
    const program = `${code}; process.stdin.resume();`;
    await expect(open(program, AbortSignal.timeout(3_000))).rejects.toThrow(why);
  });

  it('reads the answers to all requests after a log without a line end', async () => {
    const program = PROGRAM.replace("if (method !== 'tools/call') return out(text", "return out('[info] asked: ' + text");
    const connection = await open(program, AbortSignal.timeout(30_000));
    expect(await connection.list(AbortSignal.timeout(20_000)).finally(() => connection.close())).toMatchObject({
      tools: [{ rawName: 't' }],
    });
  });

  it('fails a call without a retry if its answer is invalid JSON', async () => {
    const answered = call('out(text.replace(/"text":.*/, \'"text":None}]}}\') + \'\\n\');');
    await expect(answered).rejects.toMatchObject({ code: 'tool_failed', options: { retryable: false } });
  });

  it('ends a call with a typed error if its program ends within the answer', async () => {
    await expect(call('out(text.slice(0, 20)); process.exit(1);')).rejects.toMatchObject({ code: 'unavailable' });
  });
});
