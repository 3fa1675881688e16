import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pino } from 'pino';
import { SafetySettings, type Content } from '#contracts';
import { ContentSanitizer } from '#redaction';
import { OutputSanitizer } from './output-sanitizer.js';

const KNOWN = 'correct horse battery staple';
const GITHUB = 'ghp_0a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h';
const SECRETS = [KNOWN, GITHUB, 'password=q7hunter2xcanary'];
/** Shortest part of a secret that counts as revealed. */
const TELLING = 6;
const safety = ContentSanitizer.of(SafetySettings.parse({ redaction: { values: [KNOWN] } }));

function guarded(): { guard: OutputSanitizer; seen: () => string } {
  const updates: Content[] = [];
  const watchers = { onUpdate: (content: readonly Content[]) => void updates.push(...content), onProgress: () => undefined };
  const guard = new OutputSanitizer({ safety }, watchers, pino({ level: 'silent' }), '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V');
  return { guard, seen: () => updates.map((item) => (item.type === 'text' ? item.text : `<${item.type}>`)).join('') };
}

function halvesIn(text: string): string[] {
  return SECRETS.flatMap((secret) => {
    const value = secret.replace('password=', '');
    return [...Array(value.length - TELLING + 1).keys()].map((at) => value.slice(at, at + TELLING)).filter((part) => text.includes(part));
  });
}

const text = fc.array(fc.constantFrom(...SECRETS, ' ', '\n', 'compiled ', 'warning: '), { maxLength: 6 }).map((parts) => parts.join(' '));
/** Turns of the streams, each with a number of characters. */
const turns = fc.array(fc.tuple(fc.constantFrom('stdout', 'stderr'), fc.integer({ min: 1, max: 30 })), { maxLength: 40 });

describe('OutputSanitizer', () => {
  it('shows no half of a secret in updates, for any interleaving and cuts of two streams', () => {
    fc.assert(
      fc.property(text, text, turns, fc.boolean(), (stdout, stderr, order, cut) => {
        const { guard, seen } = guarded();
        const rest = new Map([
          ['stdout', stdout],
          ['stderr', stderr],
        ]);
        const say = (stream: string, length: number, last: boolean) => {
          const left = rest.get(stream) ?? '';
          guard.onUpdate([{ type: 'text', text: left.slice(0, length) }], { stream, truncated: last });
          rest.set(stream, left.slice(length));
        };
        for (const [stream, length] of order) say(stream, length, false);
        // Sends the rest, or a part of it and then nothing.
        for (const stream of rest.keys()) say(stream, cut ? 9 : Infinity, cut);
        guard.flush();
        expect(halvesIn(seen())).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('delays half of a secret across items that are no text', () => {
    const { guard, seen } = guarded();
    guard.onUpdate([{ type: 'text', text: `a ${GITHUB.slice(0, 20)}` }]);
    guard.onUpdate([
      { type: 'json', json: { n: 1 } },
      { type: 'text', text: `${GITHUB.slice(20)} b` },
    ]);
    guard.flush();
    expect(seen()).toBe('a <json>[REDACTED] b');
  });

  it('shows both streams whole, each in its order', () => {
    const { guard, seen } = guarded();
    guard.onUpdate([{ type: 'text', text: 'one ' }], { stream: 'stdout' });
    guard.onUpdate([{ type: 'text', text: 'two ' }], { stream: 'stderr' });
    guard.onUpdate([{ type: 'text', text: 'three' }], { stream: 'stdout' });
    guard.flush();
    expect(seen()).toBe('one two three');
  });

  it('cuts the message of a failure when the secrets are out of it', () => {
    const { guard } = guarded();
    const message = `${`${GITHUB} `.repeat(400)}x`;
    const { run } = guard.sanitizeResult({ run: { kind: 'failure', failure: { code: 'tool_failed', message, retryable: false } } });
    expect(run.kind === 'failure' && halvesIn(run.failure.message)).toEqual([]);
  });
});
