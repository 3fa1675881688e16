import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { suspend, workerTool, WorkerToolError, type ToolyardWorker } from '#client/worker';

const integer = z.number().int();
let runs = 0;

const added = workerTool({ name: 'check_added', description: 'Was added later.', input: z.strictObject({}), run: () => 'added' });

/** The tools that `toolyard worker-check` calls. `workerOf`: the worker that offers them. */
export function checkTools(workerOf: () => ToolyardWorker) {
  return [...outputTools(), ...stateTools(workerOf)];
}

function outputTools() {
  return [
    workerTool({
      name: 'check_echo',
      description: 'Returns the value: a text as it is, anything else as JSON.',
      input: z.strictObject({ value: z.any() }),
      run: ({ value }) => (typeof value === 'string' ? value : JSON.stringify(value)),
    }),
    workerTool({
      name: 'check_sleep',
      description: 'Waits, until it is cancelled unless that is to be ignored.',
      input: z.strictObject({ ms: integer, ignoreCancel: z.boolean().default(false) }),
      run: async ({ ms, ignoreCancel }, { signal }) => {
        await sleep(ms, undefined, ignoreCancel ? {} : { signal });
        return 'slept';
      },
    }),
    workerTool({
      name: 'check_updates',
      description: 'Sends updates and progress, then ends.',
      input: z.strictObject({ count: integer }),
      run: async ({ count }, { onUpdate, onProgress }) => {
        for (let n = 1; n <= count; n++) {
          onUpdate(`update ${n}`);
          onProgress({ done: n, total: count });
        }
        return 'done';
      },
    }),
    workerTool({
      name: 'check_fail',
      description: 'Fails with the message.',
      input: z.strictObject({ message: z.string() }),
      run: ({ message }) => {
        throw new WorkerToolError(message);
      },
    }),
    workerTool({
      name: 'check_big',
      description: 'Returns so many letters x.',
      input: z.strictObject({ bytes: integer }),
      run: ({ bytes }) => 'x'.repeat(bytes),
    }),
  ];
}

function stateTools(workerOf: () => ToolyardWorker) {
  return [
    workerTool({
      name: 'check_suspend',
      description: 'Suspends its first attempt.',
      input: z.strictObject({ ms: integer }),
      run: ({ ms }, { attempt }) => (attempt === 1 ? suspend({ resumeInMs: ms }) : 'resumed'),
    }),
    workerTool({
      name: 'check_wait',
      description: 'Suspends its first attempt until something, with a state.',
      input: z.strictObject({ until: z.enum(['input', 'children']), state: z.json() }),
      run: ({ until, state }, { attempt, resumed }) => {
        if (attempt > 1) return JSON.stringify(resumed);
        return suspend({ until, state, ...(until === 'input' ? { prompt: 'Which value?', inputSchema: { type: 'string' } } : {}) });
      },
    }),
    workerTool({
      name: 'check_context',
      description: 'Returns session, workspace and secrets of the call as JSON.',
      input: z.strictObject({}),
      run: (_none, { sessionId = null, workspace = null, secrets }) => JSON.stringify({ session: sessionId, workspace, secrets }),
    }),
    workerTool({
      name: 'check_count',
      description: 'How often this tool ran in this process.',
      input: z.strictObject({}),
      run: () => String(++runs),
    }),
    workerTool({
      name: 'check_tools',
      description: 'Announces the tool check_added, or takes it away.',
      input: z.strictObject({ add: z.boolean() }),
      run: ({ add }) => {
        workerOf().announce(add ? { add: [added] } : { remove: ['check_added'] });
        return 'announced';
      },
    }),
  ];
}
