import { describe, expect, it } from '@jest/globals';
import { StaticToolExecutor } from './static-tool-executor.js';

describe('StaticToolExecutor', () => {
  const executor = new StaticToolExecutor().register('echo', (json) => json).register('break', () => Promise.reject(new Error('broken')));

  it('runs functions by name, on the text of the model [RP-03]', async () => {
    expect(executor.names()).toEqual(['break', 'echo']);
    expect(await executor.execute('echo', '{"a":1}')).toBe('{"a":1}');
    expect(await executor.execute('break', '{}')).toBe('broken');
    expect(await executor.execute('date', '{}')).toBe('unknown tool: date; registered are break, echo');
  });

  it('refuses a name of a function twice', () => {
    expect(() => executor.register('echo', () => '')).toThrow('expected a new name, got echo, which is registered');
  });
});
