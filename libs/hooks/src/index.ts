export { HookRunRecorder } from './hook-run-recorder.js';
export { HookRunner, type HookInvocation, type HookRun } from './hook-runner.js';
export { signedHeaders } from './standard-webhook.js';
export { HookSnapshotStore } from './hook-snapshot-store.js';
export { hookEventName, textOf } from './hook-input.js';
export { redactHookRun } from './redact-hook-run.js';
