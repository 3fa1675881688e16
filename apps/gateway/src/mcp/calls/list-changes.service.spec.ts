import { describe, expect, it, jest } from '@jest/globals';
import { ListChanges } from './list-changes.service.js';

const keyOf = (keyId: string) => ({ keyId, tenantId: 't', scopes: ['read'], tools: ['a'] }) as never;
const A = keyOf('a');
const B = keyOf('b');

function changesOf(tools: (principal: unknown) => string[], current: (principal: unknown) => unknown = (principal) => principal) {
  const forModel = (principal: unknown) => Promise.resolve().then(() => tools(principal).map((name) => ({ name, version: '1' })));
  return new ListChanges({ forModel } as never, { current } as never, { debug: () => {} } as never);
}

describe('ListChanges', () => {
  it('notifies one listener of tool changes after another listener of the same key has stopped twice', async () => {
    jest.useFakeTimers();
    let tools = ['x'];
    const changes = changesOf(() => tools);
    const changed = jest.fn();
    const stop = changes.watch(A, () => {});
    stop();
    changes.watch(A, changed);
    stop();
    await jest.advanceTimersByTimeAsync(1_000);
    tools = ['x', 'y'];
    await jest.advanceTimersByTimeAsync(1_000);
    expect(changed).toHaveBeenCalledTimes(1);
    changes.onApplicationShutdown();
  });

  it('notifies a key of a change while the tools of another key cannot be listed, and notices changes of the key itself', async () => {
    jest.useFakeTimers();
    let current: unknown = B;
    const changes = changesOf(
      (principal) => {
        if (principal === A) throw new Error('not now');
        return principal === B ? ['x'] : [];
      },
      (principal) => (principal === B ? current : principal),
    );
    const changed = jest.fn();
    changes.watch(A, () => {});
    changes.watch(B, changed);
    await jest.advanceTimersByTimeAsync(1_000);
    current = keyOf('b');
    await jest.advanceTimersByTimeAsync(1_000);
    expect(changed).toHaveBeenCalledTimes(1);
    changes.onApplicationShutdown();
  });
});
