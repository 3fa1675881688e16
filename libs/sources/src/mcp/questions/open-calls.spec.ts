import { describe, expect, it } from '@jest/globals';
import { Suspension, type ToolContext } from '#tool-sdk';
import { OpenCalls } from './open-calls.js';

const QUESTION = {
  method: 'elicitation/create' as const,
  params: { message: 'Which?', requestedSchema: { type: 'object', properties: { branch: { type: 'string' } } } },
};
const contextOf = (callId: string) => ({ callId, signal: new AbortController().signal, onProgress: () => {} }) as unknown as ToolContext;

describe('OpenCalls', () => {
  it('ends the call at the server and continues with others when the waiting call is over', async () => {
    const isEnded = new Set<string>();
    const calls = new OpenCalls<string>('server', async (callId) => isEnded.has(callId));
    const ask = (callId: string) => {
      let ended: () => void = () => {};
      const over = new Promise<void>((resolve) => (ended = resolve));
      const result = calls.begin(async (call) => {
        call.signal.addEventListener('abort', () => ended());
        return (await calls.ask(QUESTION)).refused ?? '';
      }, contextOf(callId));
      return { over, result };
    };
    const first = ask('one');
    expect(await first.result).toBeInstanceOf(Suspension);
    expect(await ask('two').result).toMatch('not clear which call');
    isEnded.add('one');
    await first.over;
    expect(await ask('three').result).toBeInstanceOf(Suspension);
    calls.close();
  });
});
