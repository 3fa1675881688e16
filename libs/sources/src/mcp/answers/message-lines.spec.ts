import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MessageLines } from './message-lines.js';

const MAX = 1_000_000;
const written = (text: string, cut: number, lines = new MessageLines(MAX)) => {
  const bytes = Buffer.from(text);
  const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
  const read = pieces.flatMap((piece) => [...lines.take(piece)]);
  return [...read, lines.rest()].map((line) => line.trim()).filter(Boolean);
};
const framed = (text: string, more = '') => `Content-Length: ${Buffer.byteLength(text)}\r\n${more}\r\n${text}`;

it('reads messages in lines and in language server frames, for any chunks', () => {
  const message = fc.record({ id: fc.nat(), text: fc.string({ unit: 'binary' }) }).map((it) => JSON.stringify(it));
  const form = fc.constantFrom<(text: string) => string>(
    (text) => `${text}\n`,
    (text) => `${text}\r\n`,
    (text) => framed(text),
    (text) => framed(text, 'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n'),
    (text) => `${framed(text)}\n`,
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(message, form), { maxLength: 5 }), fc.nat(500), (messages, cut) => {
      const text = messages.map(([it, write]) => write(it)).join('');
      expect(written(text, cut)).toEqual(messages.map(([it]) => it));
    }),
  );
});

it('reads a message with a wrong length in its header to the end of its line', () => {
  for (const length of [1, 8, 900])
    expect(written(`Content-Length: ${length}\r\n\r\n{"id":"ö"}\n{"id":2}\n`, 4)).toEqual(['{"id":"ö"}', '{"id":2}']);
});

it('reads a message with line ends in a frame of a language server, wherever it is cut', () => {
  const pretty = [{ id: 1, params: { text: 'ö\n' } }, [{ id: 2 }]].map((it) => JSON.stringify(it, null, 2));
  const text = pretty.map((it) => framed(it) + framed(`${it}\n`) + framed(it.replaceAll('\n', '\r\n'))).join('');
  const expected = pretty.flatMap((it) => [it, it, it]).map((it): unknown => JSON.parse(it));
  for (let cut = 0; cut < Buffer.byteLength(text); cut += 1)
    expect(written(text, cut).map((it): unknown => JSON.parse(it))).toEqual(expected);
});

it('reads each message of frames whose headers give too many bytes, without waiting for more', () => {
  const message = { id: 1, text: 'a "}" \\ \u00f6\n', list: [[{}], { b: 2 }] };
  for (const text of [JSON.stringify(message, null, 2), JSON.stringify(message)])
    for (const length of [900, 999_999_999]) {
      const lines = new MessageLines(MAX);
      const frame = Buffer.from(`Content-Length: ${length}\r\n\r\n${text}`);
      for (let cut = 0; cut <= frame.length; cut += 1) {
        const read = [frame.subarray(0, cut), frame.subarray(cut)].flatMap((piece) => [...lines.take(piece)]);
        expect(read.map((it): unknown => JSON.parse(it))).toEqual([message]);
      }
      expect([...lines.take(Buffer.from('\n{"id":2}\n'))].filter(Boolean)).toEqual(['{"id":2}']);
    }
});

it('reads a message over several lines without a header, for any chunks, with its neighbours', () => {
  const pretty = [{ id: 1, params: { text: '{\n' } }, [{ id: 2 }]].map((it) => JSON.stringify(it, null, 2));
  const text = ['{"id":0}', ...pretty, '{ id: 3 }', '{', '  id: 4', '}', '{"id":5}', ''].join('\n');
  for (let cut = 0; cut < Buffer.byteLength(text); cut += 1)
    expect(written(text, cut)).toEqual(['{"id":0}', ...pretty, '{ id: 3 }', '{', 'id: 4', '}', '{"id":5}']);
  expect(written(text.replaceAll('\n', '\r\n'), 9)).toHaveLength(8);
});

it('reads a message with an unescaped line end in a text, for any chunks, with its neighbours', () => {
  const texts = ['a\n\nb "c" {\n} ö', '\n', 'ends\n'].map((it) => JSON.stringify(it).replaceAll(String.raw`\n`, '\n'));
  for (const text of texts)
    for (const end of ['\n', '\r\n']) {
      const message = `{"jsonrpc":"2.0","id":1,"result":{"text":${text}}}`.replaceAll('\n', end);
      const all = `${message}${end}{"id":2}${end}`;
      for (let cut = 0; cut < Buffer.byteLength(all); cut += 1) expect(written(all, cut)).toEqual([message, '{"id":2}']);
    }
});

it('reads the message behind one that breaks off, and the lines of that one before it', () => {
  const broken = '{"jsonrpc":"2.0","id":1,"result":{"text":"a';
  const next = '{"jsonrpc":"2.0","id":2,"result":{}}';
  for (const cut of [3, 50, 500]) expect(written(`${broken}\nb\n${next}\n`, cut)).toEqual([broken, 'b', next]);
  expect(written(broken, 3)).toEqual([broken]);
  expect(written(`${next} done\n${next}\n`, 3)).toEqual([`${next} done`, next]);
});

it('reads the lines behind an unclosed bracket, at the limit of a message at the latest', () => {
  expect(written(`{\n${'{"id":1}\n'.repeat(20)}`, 7, new MessageLines(100)).filter((it) => it === '{"id":1}')).toHaveLength(20);
});

it.each([
  ['a bracket', '{\n'],
  ['a list that goes on', '[\n  1,\n'],
  ['an object with an odd quote', "{\n  cmd: 'echo \"hi',\n  at: 1\n}\n"],
])('reads the messages behind a log of %s at once, wherever it is cut', (_what, log) => {
  const messages = ['{"jsonrpc":"2.0","id":1,"result":{}}', '{"id":2,"result":{},"jsonrpc":"2.0"}'];
  for (const cut of [1, 3, 7, 500]) {
    expect(written(`${log}${messages[0]}\n`, cut).at(-1)).toBe(messages[0]);
    expect(written(`${log}${messages.join('\n')}\n`, cut).slice(-2)).toEqual(messages);
  }
});

it('reads a line of a frame that only resembles a message, and the message after it', () => {
  for (const first of ['{ starting }', '[info] a', '} a {', '{"a":1} ready'])
    expect(written(`Content-Length: 900\r\n\r\n${first}\n{"id":1}\n`, 25).at(-1)).toBe('{"id":1}');
});

it('reads the messages that a frame of a wrong length has in lines beside others', () => {
  const lines = (length: number, first: string) => written(`Content-Length: ${length}\r\n\r\n${first}\n{"id":1}\n{"id":2}\n`, 30);
  for (const [length, first] of [
    [900, 'starting'],
    [12, '{'],
    [15, '[{'],
  ] as const)
    expect(lines(length, first)).toEqual([first, '{"id":1}', '{"id":2}']);
});

it('reads a line that only resembles a header, and what follows', () => {
  expect(written('Content-Length: 20\n{"id":1}\n{"id":2}\n', 3)).toEqual(['{"id":1}', '{"id":2}']);
});

it('replaces an answer beyond the limit by an error, and reads the next one', () => {
  const long = 'x'.repeat(500);
  const error = (id: string | number) => ({ jsonrpc: '2.0', id, error: { code: -32_603, message: expect.stringContaining('100 bytes') } });
  for (const [text, id] of [
    [`{"jsonrpc":"2.0","id":7,"result":{"content":"${long}"}}`, 7],
    [`{ "id": "a-1", "jsonrpc": "2.0", "result": "${long}"}`, 'a-1'],
    [`{"result":{"content":[{"id":1,"text":"${long}"}]},"id":7,"jsonrpc":"2.0"}`, 7],
    [`{"result":{"content":[{"id":1,"text":"${long}"}]},"jsonrpc":"2.0","id":7}`, 7],
  ] as const)
    for (const form of [`${text}\n`, framed(text), framed(JSON.stringify(JSON.parse(text), null, 2))]) {
      const read = written(`${form}{"id":8}\n`, 150, new MessageLines(100));
      expect(read.map((it): unknown => JSON.parse(it))).toEqual([error(id), { id: 8 }]);
    }
});

it('skips a notification beyond the limit, and reads the next message', () => {
  const text = `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"${'x'.repeat(500)}"}}`;
  for (const form of [`${text}\n`, framed(text)])
    expect(written(`${form}{"id":8}\n`, 150, new MessageLines(100)).filter((it) => it !== 'null')).toEqual(['{"id":8}']);
});

it('refuses a line beyond the limit that shows no id, or has no end', () => {
  const long = `"${'x'.repeat(200)}"`;
  for (const text of [
    `{"result":{"id":1,"text":${long}}}`,
    `{"id":1,"method":"ping","params":${long}}`,
    `{"method":"ping","params":${long},"id":1}`,
  ])
    expect(() => written(`${text}\n`, 50, new MessageLines(100))).toThrow(RangeError);
  const lines = new MessageLines(100);
  const take = (text: string) => [...lines.take(Buffer.from(text))];
  for (const text of ['{"id":1,"result":"', 'x'.repeat(500)]) expect(take(text)).toEqual([]);
  expect(() => take('x'.repeat(500))).toThrow(RangeError);
});

it('refuses a message beyond the limit, in a line and in a frame', () => {
  for (const text of ['x'.repeat(101), `Content-Length: 500\r\n\r\n${'x'.repeat(101)}`])
    expect(() => written(text, 50, new MessageLines(100))).toThrow(RangeError);
});
