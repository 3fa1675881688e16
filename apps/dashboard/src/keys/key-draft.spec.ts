import { expect, it } from '@jest/globals';
import { EMPTY_KEY, keyBodyOf } from './key-draft.js';

const NOW = Date.parse('2026-01-01T00:00:00Z');

it('omits empty fields, so that the limits of the creating key apply', () => {
  expect(keyBodyOf({ ...EMPTY_KEY, name: ' ci ', days: '' }, NOW)).toEqual({ name: 'ci', scopes: ['submit', 'read', 'cancel'] });
});

it('reads names between commas and spaces, and days from now', () => {
  const draft = {
    ...EMPTY_KEY,
    name: 'ci',
    agent: ' coder ',
    agents: 'team-a-*, team-b-*',
    tools: 'file_*\nshell,',
    ratePerMinute: 60,
    days: '30',
  };
  expect(keyBodyOf(draft, NOW)).toMatchObject({
    agent: 'coder',
    agents: ['team-a-*', 'team-b-*'],
    tools: ['file_*', 'shell'],
    ratePerMinute: 60,
    expiresAt: '2026-01-31T00:00:00.000Z',
  });
});
