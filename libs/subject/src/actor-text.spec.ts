import { describe, expect, it } from '@jest/globals';
import { actorText } from './actor-text.js';

describe('who did something', () => {
  it('identifies an actor by the id that only the provider assigns, for any chosen name', () => {
    expect(actorText('apikey:https://id.example.com#7', 'apikey:release-bot')).toBe('apikey:release-bot (apikey:https://id.example.com#7)');
    expect(actorText('apikey:release-bot', undefined)).toBe('apikey:release-bot');
  });

  it('shows no character of an actor that cannot be seen', () => {
    expect(actorText('id', 'Ada\u202e')).not.toContain('\u202e');
  });
});
