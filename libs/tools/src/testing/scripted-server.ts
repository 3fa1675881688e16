import type { ServerSettings } from '../code/server/language-servers.config.js';

/**
 * Language server for tests, as text for `node -e`. Its initialization options contain the responses by method. In responses,
 * `ROOT` is the URI of the workspace, and `HEARD` the received notifications, a line each. A text is an action in place of a
 * response. The server reports `reports` about a text that contains `reportsWhere`, and nothing about another; with `outdated`
 * it first repeats its last report, of the previous version. With `deaf` it reads nothing after its start. With `edits` of a
 * method it changes a file of the workspace before it responds.
 */
const SCRIPT = String.raw`
let options = {}, root = '', heard = [], rest = Buffer.alloc(0);
const write = (text) => process.stdout.write(text);
const send = (message) => { const body = JSON.stringify({ jsonrpc: '2.0', ...message }); write('Content-Length: ' + Buffer.byteLength(body) + '\r\n\r\n' + body); };
const filled = (value) => JSON.parse(JSON.stringify(value).replaceAll('ROOT', root).replaceAll('HEARD', heard.join('\\n')));
const shown = (params) => params?.changes?.map((it) => it.type + ' ' + it.uri.slice(root.length + 1)).join(',')
  ?? [params?.textDocument?.uri.slice(root.length + 1), params?.textDocument?.languageId, params?.textDocument?.version, params?.textDocument?.text ?? params?.contentChanges?.[0].text].filter((it) => it !== undefined).join(' ').replaceAll('\n', '~');
const tricks = {
  never: () => {},
  exit: () => process.exit(7),
  wrongId: (id) => { send({ id: id + 1000, result: { contents: 'wrong' } }); send({ id: 'x', result: 1 }); send({ id: null, error: { code: 1, message: 'x' } }); send({ id, result: { contents: 'right' } }); },
  giant: () => { write('Content-Length: 99999999999\r\n\r\n'); const more = () => { while (write(Buffer.alloc(1048576, 32))); }; process.stdout.on('drain', more); more(); },
  noHeader: () => { const more = () => { while (write(Buffer.alloc(1048576, 65))); }; process.stdout.on('drain', more); more(); },
  notJson: () => write('Content-Length: 3\r\n\r\n{x}'),
  noLength: () => write('Content-Type: x\r\n\r\n{}'),
  flood: () => { const more = () => { do { send({ method: 'window/logMessage', params: { type: 1, message: 'x', values: Array(6000).fill(1) } }); } while (!process.stdout.writableNeedDrain); }; process.stdout.on('drain', more); more(); },
  refuses: (id) => send({ id, error: { code: -32603, message: 'no such symbol' } }),
  badCancel: () => send({ method: '$/cancelRequest' }),
  looks: (id) => {
    const fs = require('fs');
    const tried = (name, work) => { try { return name + ': ' + String(work()).trim(); } catch (error) { return name + ': ' + error.code; } };
    const network = Object.values(require('os').networkInterfaces()).flat().filter((it) => !it.internal).length;
    const contents = [
      tried('read', () => fs.readFileSync('a.ts')), tried('denied', () => fs.readFileSync('secret/a.ts')), tried('outside', () => fs.readFileSync('../../outside/secret.txt')),
      tried('write', () => fs.writeFileSync('planted.ts', '')), 'network: ' + network,
    ].join('\n');
    send({ id, result: { contents } });
  },
};
let last = [];
const report = ({ textDocument: { uri, version, text }, contentChanges }) => {
  const publish = (version, diagnostics) => send({ method: 'textDocument/publishDiagnostics', params: { uri, version, diagnostics } });
  if (options.outdated && version > 1) publish(version - 1, last);
  last = (text ?? contentChanges[0].text).includes(options.reportsWhere ?? '') ? filled(options.reports) : [];
  const now = last;
  setTimeout(() => publish(version, now), options.reportsAfterMs ?? 0);
};
const handle = ({ id, method, params }) => {
  if (method === 'initialize') {
    [options, root] = [params.initializationOptions ?? {}, params.rootUri];
    if (options.initialize) return tricks[options.initialize](id);
    const all = { definitionProvider: true, referencesProvider: true, hoverProvider: true, completionProvider: {}, renameProvider: true, documentFormattingProvider: true };
    return send({ id, result: { capabilities: { ...all, ...options.capabilities } } });
  }
  if (method === 'initialized' && options.deaf) return (setInterval(() => {}, 60_000), process.stdin.pause());
  if (id === undefined) heard.push((method + ' ' + shown(params)).trim());
  if (/didOpen|didChange$/.test(method) && options.reports) report(params);
  if (id === undefined || method === undefined) return;
  for (const [name, text] of Object.entries(options.edits?.[method] ?? {})) require('fs').writeFileSync(name, text);
  const answer = options[method] ?? null;
  if (typeof answer === 'string') tricks[answer](id);
  else send({ id, result: filled(answer) });
};
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    const length = Number(/Content-Length: (\d+)/i.exec(rest.subarray(0, end))?.[1]);
    if (end < 0 || rest.length < end + 4 + length) return;
    const body = rest.subarray(end + 4, end + 4 + length);
    rest = rest.subarray(end + 4 + length);
    handle(JSON.parse(body));
  }
});
process.stdin.on('end', () => process.exit());
`;

/** The settings of a server for files that end with `.ts`, with what it answers. The mark is a word of its command. */
export function scriptedServer(options: Readonly<Record<string, unknown>>, mark = ''): ServerSettings {
  return { name: 'scripted', command: [process.execPath, '-e', SCRIPT, mark], extensions: ['ts'], options };
}
