export { HookRunner, type HookRun } from './hook-runner.js';
export { HookSnapshotStore as HookSets } from './hook-snapshot-store.js';
export { hookEventName, textOf } from './hook-input.js';
export { redactHookRun as shownRun } from './redact-hook-run.js';
