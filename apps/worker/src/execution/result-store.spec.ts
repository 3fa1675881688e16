import { describe, expect, it } from '@jest/globals';
import { ResultStore } from './result-store.js';

describe('the result store', () => {
  it('cuts the model’s text at the limit of the call, and keeps the whole output beside', async () => {
    const stored = new Map<string, string>();
    const store = new ResultStore('00-c', { put: async (_callId, ref, bytes) => void stored.set(ref, bytes.toString()) });
    const text = 'x'.repeat(2_000);
    const { result, output } = await store.keep({ content: [{ type: 'text', text }], isError: false }, 'echo', 500);
    expect(result?.content).toEqual([{ type: 'text', text: `${'x'.repeat(500)}[output truncated — original size: 2,000 bytes]` }]);
    expect(result?.truncated?.originalBytes).toBe(2_000);
    expect(stored.get('output')).toBe(text);
    expect(output?.bytes).toBe(2_000);
  });
});
