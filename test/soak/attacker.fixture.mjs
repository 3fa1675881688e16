// Run by neighbour.spec.ts: sends requests of one kind, two at a time, until it is ended. Prints how many were answered.
const MIB = 1_000_000;
/** Pieces that fill a body. */
const repeated = (piece) => {
  const pieces = [];
  for (let length = 0, n = 0; length < MIB; n++) {
    const text = piece(n);
    length += JSON.stringify(text).length;
    pieces.push(text);
  }
  return pieces;
};
/** Most parts of a body, less some for what is around them. */
const PARTS = 24_900;
const list = (length, item) => Array.from({ length }, (_, n) => item(n));
const members = (length, value) => Object.fromEntries(list(length, (n) => [`member-${n}`, value(n)]));
const echo = (args, more = {}) => ['/v1/calls', { tool: 'echo', arguments: args, ...more }];
const quote = (tool, args) => ['/v1/calls:quote', { tool, arguments: args }];
const batch = (length, calls) => ['/v1/batches', { calls: list(length, calls), strategy: { type: 'parallel' } }];

/** Path and body by the name of the attack. */
export const ATTACKS = {
  'one text of 1 MB': () => echo({ text: 'x'.repeat(MIB) }),
  'text of escapes': () => echo({ text: '\u0001'.repeat(MIB / 6) }),
  'list of 480,000 numbers, refused': () => echo({ text: list(480_000, () => 1) }),
  'list of numbers': () => echo({ text: list(PARTS, (n) => n) }),
  'list of lists': () => echo({ text: list(PARTS / 2, () => []) }),
  'list of texts': () => echo({ text: list(PARTS, (n) => `item number ${n}, of many`) }),
  members: () => echo(members(PARTS, (n) => n)),
  'unknown members': () => ['/v1/calls', { tool: 'file_read', arguments: { path: 'a', ...members(PARTS, (n) => n) } }],
  'members, repeated by key': () =>
    echo(
      members(PARTS, (n) => n),
      { sessionId: 's', toolCallId: 't' },
    ),
  'labels of keys': () => echo({ text: repeated(() => '-----BEGIN PRIVATE KEY-----\n').join('') }),
  'labels of keys with lines': () => echo({ text: repeated(() => `-----BEGIN PRIVATE KEY-----\n${'A'.repeat(40)}\n`).join('') }),
  'beginnings of labels': () => echo({ text: repeated(() => '-----BEGIN ').join('') }),
  'one secret many times': () => echo({ text: repeated(() => 'password=hunter2222 ').join('') }),
  'many secrets': () => echo({ text: repeated((n) => `password=hunter${n}x `).join('') }),
  'members with names of secrets': () => echo(Object.fromEntries(list(PARTS, (n) => [`password${n}`, `hunter-${n}`]))),
  'list of secrets': () => echo({ passwords: list(PARTS, (n) => `hunter${n}`) }),
  tokens: () => echo({ text: repeated((n) => `ghp_${String(n).padStart(36, 'a')} `).join('') }),
  operators: () => echo({ text: repeated(() => '=:').join('') }),
  'invisible characters': () => echo({ text: repeated(() => 'a\u200b').join('') }),
  'encoded text': () => echo({ text: '%61'.repeat(MIB / 3) }),
  'JSON in a text': () => echo(JSON.stringify({ text: list(PARTS, () => 1) })),
  'command of many words': () => quote('shell', { command: 'a;'.repeat(MIB / 2) }),
  'command of nested quotes': () => quote('shell', { command: '$('.repeat(MIB / 2) }),
  'path of many parts': () => quote('file_read', { path: 'a/'.repeat(MIB / 2) }),
  'batch of 100 calls': () => batch(100, (_, n) => ({ tool: 'echo', arguments: { text: String(n) } })),
  'batch of 1,000 calls': () => batch(1_000, (_, n) => ({ tool: 'echo', arguments: { text: String(n) } })),
  'batch of 100 faulty calls': () => batch(100, () => ({ tool: 'file_read', arguments: members(220, (n) => n) })),
  'batch of 100 calls with secrets': () =>
    batch(100, (_, i) => ({
      tool: 'echo',
      arguments: { text: list(350, (n) => `password=h${i}unter${n}`).join(' ') },
    })),
};

const [url, key, name] = process.argv.slice(2);
if (name !== undefined) {
  const [path, content] = ATTACKS[name]();
  const body = JSON.stringify(content);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', prefer: 'wait=30' };
  const answers = {};
  const sending = async () => {
    for (;;) {
      const response = await fetch(url + path, { method: 'POST', headers, body });
      await response.arrayBuffer();
      answers[response.status] = (answers[response.status] ?? 0) + 1;
    }
  };
  process.on('SIGTERM', () => {
    process.stdout.write(JSON.stringify(answers), () => process.exit(0));
  });
  for (let n = 0; n < 2; n++) void sending();
  process.stdout.write('ready\n');
}
