import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** A stdio server without dependencies whose one tool says what it was started with. */
const SERVER = `
const { createInterface } = require('node:readline');
const tool = { name: 'greet', description: 'Greets.', inputSchema: { type: 'object', properties: { name: { type: 'string' } } } };
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'bundled', version: '1' } }),
  'tools/list': () => ({ tools: [tool] }),
  'tools/call': ({ arguments: { name } }) => ({
    content: [{ type: 'text', text: [process.env.GREETING, name, process.env.TOKEN, ...process.argv.slice(2)].join(' ') }],
  }),
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: 'unknown' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...said }));
});`;

export const MANIFEST = {
  manifest_version: '0.3',
  name: 'greeter',
  version: '1.0.0',
  description: 'Greets',
  author: { name: 'Test' },
  server: {
    type: 'node',
    entry_point: 'server/index.js',
    mcp_config: {
      command: process.execPath,
      args: ['${__dirname}/server/index.js', '${user_config.words}'],
      env: { GREETING: '${user_config.greeting}', TOKEN: '${user_config.token}' },
    },
  },
  user_config: {
    greeting: { type: 'string', title: 'Greeting', description: '', default: 'Hello' },
    token: { type: 'string', title: 'Token', description: '', sensitive: true, required: true },
    words: { type: 'string', title: 'Words', description: '', multiple: true },
  },
};

export interface BundleFile {
  readonly name: string;
  readonly text: string;
  /** File mode, including the type of the file. */
  readonly mode?: number;
}

/** An MCP bundle and its digest. */
export async function mcpBundle(
  files: readonly BundleFile[] = [
    { name: 'manifest.json', text: JSON.stringify(MANIFEST) },
    { name: 'server/index.js', text: SERVER },
  ],
): Promise<{ readonly bytes: Buffer; readonly sha256: string }> {
  const zip = new ZipFile();
  for (const { name, text, mode = 0o100_644 } of files) zip.addBuffer(Buffer.from(text), name, { mode });
  zip.end();
  const bytes = await buffer(zip.outputStream);
  return { bytes, sha256: digestOf(bytes) };
}

export function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
