import { PassThrough, Writable } from 'node:stream';
import { expect, it } from '@jest/globals';
import { type TestWorkspace, testWorkspace } from '../../testing/test-workspace.js';
import { fakeToolContext } from '../../testing/tool-context.js';
import { OpenDocuments } from './open-documents.js';
import { ServerConnection } from './server-connection.js';

/** A server that reads nothing until it is let. */
function stalledServer() {
  const sent: string[] = [];
  const waiting: (() => void)[] = [];
  let isStalled = true;
  const stdin = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      sent.push(chunk.toString());
      if (isStalled) waiting.push(done);
      else done();
    },
  });
  const read = () => {
    isStalled = false;
    for (const done of waiting.splice(0)) done();
  };
  return { stdin, read, bodies: () => sent.flatMap((text) => (text.startsWith('{') ? [JSON.parse(text) as object] : [])) };
}

let workspace: TestWorkspace;

it('opens a file once, also if the opening call did not wait for the server', async () => {
  workspace = await testWorkspace();
  await workspace.put('a.ts', 'one\n');
  const server = stalledServer();
  const connection = new ServerConnection('slow', { stdin: server.stdin, stdout: new PassThrough() }, () => {});
  connection.listen();
  const documents = new OpenDocuments(connection);
  const cancel = new AbortController();
  const ctx = fakeToolContext({ workspace });
  const opening = documents.show('a.ts', false, ctx, { signal: cancel.signal, timeoutMs: 60_000 });
  setImmediate(() => cancel.abort(new Error('cancelled')));
  await expect(opening).rejects.toThrow('cancelled');
  server.read();
  await workspace.put('a.ts', 'two\n');
  await documents.show('a.ts', false, ctx, { signal: ctx.signal, timeoutMs: 60_000 });
  expect(server.bodies()).toMatchObject([
    { method: 'textDocument/didOpen', params: { textDocument: { version: 1, text: 'one\n' } } },
    { method: 'textDocument/didChange', params: { textDocument: { version: 2 }, contentChanges: [{ text: 'two\n' }] } },
  ]);
  connection.fail('the test is over');
  await workspace.remove();
});
