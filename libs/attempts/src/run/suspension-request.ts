import { LIMITS } from '#contracts';
import type { Suspension } from '#tool-sdk';
import type { RunResult } from '../commit/attempt-result.js';

/** Validates a suspension like a request: tools may come from anywhere. Never throws. */
export function suspensionRequest({ options }: Suspension): RunResult<never> {
  const { until = 'timer', prompt, inputSchema } = options;
  const state = jsonText(options.state);
  if (state === false) return refused('a state that is no JSON value');
  if (Buffer.byteLength(state ?? '') > LIMITS.suspensionStateBytes)
    return refused(`a state of ${Buffer.byteLength(state ?? '')} bytes; expected at most ${LIMITS.suspensionStateBytes}`);
  const schema = jsonText(inputSchema);
  if (schema === false || Buffer.byteLength(schema ?? '') > LIMITS.inputSchemaBytes)
    return refused(`an input schema that is no JSON object of at most ${LIMITS.inputSchemaBytes} bytes`);
  const sampling = jsonText(options.sampling);
  if (sampling === false || Buffer.byteLength(sampling ?? '') > LIMITS.samplingBytes)
    return refused(`a question for a model that is no JSON value of at most ${LIMITS.samplingBytes} bytes`);
  const isInput = until === 'input';
  const fallback = until === 'timer' ? 0 : undefined;
  const resumeInMs = options.resumeInMs === undefined ? fallback : Math.max(0, Math.ceil(options.resumeInMs));
  if (Number.isNaN(resumeInMs)) return refused('a time that is no number');
  return {
    kind: 'suspended',
    request: {
      until,
      ...(resumeInMs === undefined ? {} : { resumeInMs: Math.min(resumeInMs, LIMITS.totalMs) }),
      ...(isInput && typeof prompt === 'string' ? { prompt } : {}),
      ...(isInput && inputSchema !== undefined ? { inputSchema } : {}),
      ...(isInput && options.sampling !== undefined ? { sampling: options.sampling } : {}),
      ...(isInput && options.declinable === true ? { declinable: true } : {}),
      ...(state === undefined ? {} : { state }),
    },
  };
}

/** JSON text of a value; false for cycles and functions. */
function jsonText(value: unknown): string | undefined | false {
  if (value === undefined) return undefined;
  try {
    const text: unknown = JSON.stringify(value);
    return typeof text === 'string' ? text : false;
  } catch {
    return false;
  }
}

function refused(what: string): RunResult<never> {
  return { kind: 'failure', failure: { code: 'output_invalid', message: `The tool suspended itself with ${what}.`, retryable: false } };
}
