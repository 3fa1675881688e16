import { HookVerdict, validationFaults, parseExactJson, type HookEvent } from '#contracts';
import { HookFailure } from './hook-failure.js';

const VERDICT_FIELDS = Object.keys(HookVerdict.shape);

/** Output of a hook. `strict`: it must be a verdict in JSON; otherwise any other text is feedback. */
export interface HookOutput {
  readonly text: string;
  readonly truncated: boolean;
  readonly strict: boolean;
}

/**
 * Parses the verdict in the output of a hook. Empty output is a neutral verdict. Throws a HookFailure for a malformed verdict,
 * so that a misspelt "deny" never counts as an "allow".
 */
export function parseHookOutput(event: HookEvent, { text, truncated, strict }: HookOutput): HookVerdict {
  const trimmed = text.trim();
  if (trimmed === '') return {};
  // A truncated text keeps its length, by which `redactHookRun` detects the cut.
  if (!strict && !trimmed.startsWith('{')) return { feedback: truncated ? text : trimmed };
  if (truncated) throw new HookFailure(' answered with more JSON than its maxOutputBytes allow');
  const value = parsed(trimmed);
  if (value === undefined) throw new HookFailure(' answered with malformed JSON');
  if (!strict && !isMeantAsVerdict(value)) return { feedback: trimmed };
  return validateVerdict(event, value);
}

/** Validates a verdict. Throws a HookFailure with the fault. */
export function validateVerdict(event: HookEvent, value: unknown): HookVerdict {
  const read = HookVerdict.safeParse(value);
  if (!read.success) {
    const faults = validationFaults(read.error, 'the answer');
    throw new HookFailure(` answered with an invalid verdict: ${faults.slice(0, 5).join('; ').slice(0, 500)}`);
  }
  if (read.data.arguments !== undefined && event !== 'before')
    throw new HookFailure(' answered with arguments, which only a hook before the call may do');
  return read.data;
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    return undefined;
  }
}

function isMeantAsVerdict(value: unknown): boolean {
  return typeof value === 'object' && value !== null && VERDICT_FIELDS.some((word) => word in value);
}
