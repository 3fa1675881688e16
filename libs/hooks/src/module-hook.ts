import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { AppliedHook, HookInput, HookVerdict } from '#contracts';
import { validateVerdict } from './hook-output.js';
import { HookFailure } from './hook-failure.js';

/**
 * Calls the default export of a module in this process. The answer may be a verdict, a text (feedback), true or false (allow or
 * deny), or undefined. Ignores the result after an abort of `signal`, but cannot stop the module, which is trusted code of the
 * operator. Reloads a changed module.
 */
export async function runModuleHook(hook: AppliedHook, path: string, input: HookInput, signal: AbortSignal): Promise<HookVerdict> {
  const hookFunction = await load(path);
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted')), { once: true });
  });
  aborted.catch(() => {});
  signal.throwIfAborted();
  const answer = await Promise.race([called(hookFunction, input, signal), aborted]);
  if (answer === undefined || answer === null || answer === true) return {};
  if (answer === false) return { decision: 'deny' };
  if (typeof answer === 'string') return { feedback: answer.slice(0, hook.maxOutputBytes) };
  return validateVerdict(hook.on, answer);
}

type HookFunction = (input: HookInput, options: { readonly signal: AbortSignal }) => unknown;

async function called(hookFunction: HookFunction, input: HookInput, signal: AbortSignal): Promise<unknown> {
  try {
    return await hookFunction(structuredClone(input), { signal });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new HookFailure(' threw an error', { cause: error });
  }
}

async function load(path: string): Promise<HookFunction> {
  let loaded: unknown;
  try {
    const { mtimeMs } = await stat(path);
    loaded = await import(`${pathToFileURL(path).href}?changed=${mtimeMs}`);
  } catch (error) {
    throw new HookFailure(': its module cannot be loaded in the process that runs it', { cause: error });
  }
  const found: unknown = typeof loaded === 'object' && loaded !== null && 'default' in loaded ? loaded.default : undefined;
  if (!isFunction(found)) throw new HookFailure(': expected its module to export a function as its default');
  return found;
}

function isFunction(value: unknown): value is HookFunction {
  return typeof value === 'function';
}
