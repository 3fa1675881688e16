import { expect, it } from '@jest/globals';
import { runFacts } from './run-facts.js';

it('reads exit code, signal, sandbox and bytes from the details of a command', () => {
  const details = { exitCode: 0, signal: null, sandbox: 'bubblewrap', stdoutBytes: 2_788_895, stderrBytes: 12, more: [] };
  expect(runFacts(details)).toEqual({ exitCode: '0', signal: undefined, sandbox: 'bubblewrap', outputBytes: '2.8 MB, 12 B of errors' });
  expect(runFacts({ exitCode: null, signal: 'SIGKILL', sandbox: 'host' })).toMatchObject({
    exitCode: undefined,
    signal: 'SIGKILL',
    sandbox: 'none: ran on the host',
  });
});

it('reads no exit code from the details of other tools', () => {
  expect(Object.values(runFacts({ exitCode: 'none' })).filter(Boolean)).toEqual([]);
  expect(Object.values(runFacts()).filter(Boolean)).toEqual([]);
});
