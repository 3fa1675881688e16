export { HookRunner, type HookRun } from './hook-runner.js';
export { HookSets } from './hook-sets.js';
export { hookEventName, textOf } from './hook-input.js';
export { shownRun } from './shown-run.js';
