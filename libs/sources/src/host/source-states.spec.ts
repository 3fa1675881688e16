import { beforeEach, describe, expect, it } from '@jest/globals';
import { SourceStates } from './source-states.js';

describe('the events of a source', () => {
  const events: [string, object][] = [];
  let now = 0;
  let states: SourceStates;
  const tool = (rawName: string, digest = 'a') => ({ rawName, digest });
  const types = () => events.map(([type]) => type);
  beforeEach(() => {
    events.length = now = 0;
    states = new SourceStates(
      'mcp',
      (type, data) => void events.push([type, data]),
      () => now,
    );
  });

  it('reports one event for each change of state of a source, for any number of reads', () => {
    states.begin(undefined);
    for (let time = 0; time < 3; time += 1) states.loading();
    for (let time = 0; time < 3; time += 1) states.read([tool('a'), tool('b')]);
    states.read([tool('a', 'other'), tool('c')]);
    states.exited();
    for (let time = 0; time < 3; time += 1) states.failed();
    states.read([tool('a')]);
    expect(events).toEqual([
      ['source.loading', { kind: 'mcp' }],
      ['source.ready', { kind: 'mcp', tools: 2 }],
      ['source.changed', { kind: 'mcp', added: 1, changed: 1, removed: 1 }],
      ['source.exited', { kind: 'mcp' }],
      ['source.failed', { kind: 'mcp' }],
      ['source.ready', { kind: 'mcp', tools: 1 }],
    ]);
  });

  it('repeats no events of a source in a worker that takes it over', () => {
    states.begin({ status: 'ok', tools: [tool('a')] as never });
    states.loading();
    states.read([tool('a')]);
    expect(events).toEqual([]);
    states.begin({ status: 'stale', tools: [] });
    states.failed();
    states.read([tool('a')]);
    expect(types()).toEqual(['source.ready']);
  });

  it('limits the events of a source, and reports its present state later', () => {
    states.begin(undefined);
    for (let time = 0; time < 100; time += 1) {
      states.read([]);
      states.failed();
    }
    expect(events).toHaveLength(30);
    expect(types().at(-1)).toBe('source.failed');
    now = 600_001;
    states.failed();
    states.read([]);
    expect(types().slice(30)).toEqual(['source.ready']);
  });
});
