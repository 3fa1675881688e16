import { describe, expect, it } from '@jest/globals';
import { ResultStore } from './result-store.js';

describe('the result store', () => {
  it('cuts the text for the model at the limit of the call, and stores the whole output', async () => {
    const stored = new Map<string, string>();
    const store = new ResultStore('00-c', { put: async (_callId, ref, bytes) => void stored.set(ref, bytes.toString()) });
    const text = 'x'.repeat(2_000);
    const { result, output } = await store.keep({ content: [{ type: 'text', text }], isError: false }, 'echo', { modelBytes: 500 });
    expect(result?.content).toEqual([{ type: 'text', text: `${'x'.repeat(500)}[output truncated — original size: 2,000 bytes]` }]);
    expect(result?.truncated?.originalBytes).toBe(2_000);
    expect(stored.get('output')).toBe(text);
    expect(output?.bytes).toBe(2_000);
  });

  it('keeps a remark below a cut output, within the same limit', async () => {
    const store = new ResultStore('00-c', { put: async () => {} });
    const output = { content: [{ type: 'text' as const, text: 'x'.repeat(2_000) }], isError: false };
    const { result } = await store.keep(output, 'echo', { modelBytes: 500, remark: 'y'.repeat(100) });
    expect(result?.content).toEqual([
      { type: 'text', text: `${'x'.repeat(400)}[output truncated — original size: 2,000 bytes]` },
      { type: 'text', text: 'y'.repeat(100) },
    ]);
    const long = await store.keep(output, 'echo', { modelBytes: 500, remark: 'y'.repeat(1_000) });
    expect(long.result?.content.at(-1)).toEqual({ type: 'text', text: 'y'.repeat(250) });
  });
});
