import { expect, it } from '@jest/globals';
import type { Call } from '#contracts';
import { entriesOf, groupsOf, matching } from './inbox-order.js';

const call = (id: string, sessionId = 's', more: Partial<Call> = {}): Call =>
  ({ id, sessionId, tool: 'shell', labels: {}, arguments: { command: 'git push' }, ...more }) as Call;
const shown = (...args: Parameters<typeof groupsOf>) =>
  groupsOf(...args).map(({ name, entries }) => [name, ...entries.map((it) => it.call.id)]);

it('keeps the order of the list while a person works in it, although calls arrive and leave', () => {
  const first = entriesOf([], [call('a', 'one'), call('b', 'two'), call('c', 'two')], false);
  expect(shown(first, 'session')).toEqual([
    ['one', 'a'],
    ['two', 'b', 'c'],
  ]);
  const later = entriesOf(first, [call('b', 'two'), call('c', 'two'), call('d', 'one')], true);
  expect(shown(later, 'session')).toEqual([
    ['one', 'a'],
    ['two', 'b', 'c'],
    ['Just came', 'd'],
  ]);
  expect(later.filter(({ isGone }) => isGone).map((it) => it.call.id)).toEqual(['a']);
  const sorted = entriesOf(
    later,
    later.map((it) => it.call).filter(({ id }) => id !== 'a'),
    false,
  );
  expect(shown(sorted, 'session')).toEqual([
    ['two', 'b', 'c'],
    ['one', 'd'],
  ]);
});

it('finds calls by words of their arguments, agent, session and labels', () => {
  const calls = [call('a'), call('b', 'release', { agentId: 'Bot' }), call('c', 's', { labels: { goal: 'fix login' } })];
  const ids = (text: string) => matching(calls, text).map(({ id }) => id);
  expect([ids(''), ids('push bot'), ids('LOGIN'), ids('rm')]).toEqual([['a', 'b', 'c'], ['b'], ['c'], []]);
});
