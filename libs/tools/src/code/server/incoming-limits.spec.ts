import { describe, expect, it } from '@jest/globals';
import { MessageBudget, MessageFlood } from '#timing';
import { IncomingLimits } from './incoming-limits.js';

const accept = (text: string): string | undefined => new IncomingLimits().accept(Buffer.from(text, 'latin1'));

describe('limits of what a language server sends', () => {
  it.each([
    ['in hexadecimal digits', 'Content-Length: 0x7fffffff\r\n\r\n'],
    ['behind a lone CR', 'Content-Length: 2147483647\r\nX: y\rContent-Length: 5\r\n\r\n'],
    ['behind a lone LF', 'Content-Length: 2147483647\r\nX: y\nContent-Length: 5\r\n\r\n'],
    ['twice', 'Content-Length: 2147483647\r\nContent-Length: 5\r\n\r\n'],
    ['in another line of the 7-bit form', 'Content-Length: 5\r\nX: y\x8d\x8aContent-Length: 2147483647\r\n\r\n'],
    ['with a sign', 'Content-Length: -5\r\n\r\n'],
    ['not at all', 'X: y\r\n\r\n'],
  ])('refuses a header with the length %s', (_how, header) => {
    expect(accept(`${header}hello`)).toBe('it sent what is no message of the protocol');
  });

  it('passes messages of a language server, also in pieces, with other headers', () => {
    const limits = new IncomingLimits();
    const message = 'content-length: 5\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\nhello';
    for (const byte of Buffer.from(message + message)) expect(limits.accept(Buffer.from([byte]))).toBeUndefined();
  });

  it('refuses a message of a language server that is too long', () => {
    expect(accept('Content-Length: 999999999\r\n\r\n')).toMatch(/more than 4 MiB/);
  });

  it('refuses a message of a language server with too many items, before it is parsed', () => {
    const limits = new IncomingLimits();
    expect(limits.parse(Buffer.from('{"result":[1,2]}'))).toEqual({ result: [1, 2] });
    expect(() => limits.parse(Buffer.from(`[${'1,'.repeat(200_000)}`))).toThrow(RangeError);
  });

  it('stops a language server that sends more messages or values than its budget has', () => {
    const still = () => new IncomingLimits(new MessageBudget(() => 0));
    const many = still();
    expect(many.accept(Buffer.from('Content-Length: 0\r\n\r\n'.repeat(25_000)))).toMatch(/more than \d+ messages a second/);
    const large = still();
    const message = Buffer.from(JSON.stringify(Array(100_000).fill(1)));
    for (let read = 0; read < 12; read += 1) large.parse(message);
    expect(() => large.parse(message)).toThrow(MessageFlood);
    expect([many.isFlood, large.isFlood, still().isFlood]).toEqual([true, true, false]);
  });
});
