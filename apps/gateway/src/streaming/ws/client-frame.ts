import { z } from 'zod';
import { ClientFrame, LIMITS, ProblemError } from '#contracts';
import { withModelResult } from '../../platform/http/rejection.js';
import { checkJson, parseJson } from '../../platform/http/json-body.js';
import { parse } from '../../platform/http/parse.js';
import { SubmitCallRequest } from '../../calls/submit-call-request.js';

const OPS: readonly string[] = ClientFrame.options.map(({ shape }) => shape.op.value);

/** The frame of every call: its arguments are not walked here, as for a submission over HTTP. */
const SubmitFrame = z.strictObject({ ...submitShape(), call: SubmitCallRequest });

/** A frame as it came: the id to answer under, where there is one, and the frame or what is wrong with it. */
export interface ReceivedFrame {
  /** As JSON text. */
  readonly id: string | undefined;
  readonly frame: ClientFrame | ProblemError;
}

/** Reads one text frame. Never throws: every fault is a problem to answer with. */
export function readClientFrame(text: string): ReceivedFrame {
  let id: string | undefined;
  let submits = false;
  try {
    const value = parseJson(text);
    id = idOf(value);
    submits = opOf(value) === 'submit';
    checkJson(value, text);
    return { id, frame: frameOf(value, text) };
  } catch (error) {
    const problem = error instanceof ProblemError ? error : new ProblemError('invalid_request', 'The frame cannot be read');
    return { id, frame: submits ? withModelResult(problem) : problem };
  }
}

function frameOf(value: unknown, text: string): ClientFrame {
  const op = opOf(value);
  if (op === 'submit') return parse(SubmitFrame, value, 'frame');
  const bytes = Buffer.byteLength(text);
  if (bytes > LIMITS.frameBytes) {
    throw new ProblemError(
      'payload_too_large',
      `The frame has ${bytes} bytes: expected at most ${LIMITS.frameBytes}, or ${LIMITS.submitFrameBytes} for one that submits a call`,
    );
  }
  if (OPS.some((known) => known === op)) return parse(ClientFrame, value, 'frame');
  throw new ProblemError('invalid_request', `The frame has no known op: expected a JSON object with one of ${OPS.join(', ')}`, {
    errors: [{ pointer: '/op', message: `expected one of ${OPS.join(', ')}` }],
  });
}

function opOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'op' in value ? value.op : undefined;
}

function idOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('id' in value)) return undefined;
  const { id } = value;
  const usable = (typeof id === 'string' && id.length >= 1 && id.length <= 128) || Number.isSafeInteger(id);
  return usable ? JSON.stringify(id) : undefined;
}

function submitShape() {
  const option = ClientFrame.options.find((variant) => variant.shape.op.value === 'submit');
  if (!option || !('call' in option.shape)) throw new Error('ClientFrame has no variant submit');
  return option.shape;
}
