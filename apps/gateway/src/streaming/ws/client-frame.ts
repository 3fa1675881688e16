import { z } from 'zod';
import { ClientFrame, LIMITS, ProblemError } from '#contracts';
import { withModelResult } from '../../platform/http/rejection.js';
import { checkJson, parseJson } from '../../platform/http/json-body.js';
import { SubmitCallRequest } from '../../calls/submit-call-request.js';

type Op = ClientFrame['op'];

const SCHEMAS: ReadonlyMap<unknown, z.ZodObject> = new Map(ClientFrame.options.map((schema) => [schema.shape.op.value, schema]));
const OPS = [...SCHEMAS.keys()].join(', ');
/** Op and id where clients write them: before the rest of a frame. */
const HEAD = /^\{"op":"(\w{1,20})","id":("[^"\\]{1,128}"|\d{1,15})[,}]/;

/** Received frame: the id for its answer, if present, and its op and JSON, or its fault. */
export interface ReceivedFrame {
  /** Id as JSON text. */
  readonly id: string | undefined;
  readonly frame: { readonly op: Op; readonly body: unknown } | ProblemError;
}

/**
 * Reads one text frame: valid JSON of a known op and an allowed size. Never throws: every fault becomes a problem for the
 * client. The pipe of the op's handler validates the fields.
 */
export function readClientFrame(text: string): ReceivedFrame {
  let id: string | undefined;
  let submits = false;
  try {
    // For the answer to a frame that is not parsed.
    const [, firstOp, firstId] = HEAD.exec(text) ?? [];
    [id, submits] = [firstId, firstOp === 'submit'];
    const body = parseJson(text);
    id = idOf(body);
    const op = opOf(body);
    submits = op === 'submit';
    checkJson(body);
    assertSize(op, text);
    if (!isKnownOp(op)) throw unknownOp();
    return { id, frame: { op, body } };
  } catch (error) {
    const problem = error instanceof ProblemError ? error : new ProblemError('invalid_request', 'The frame cannot be read');
    return { id, frame: submits ? withModelResult(problem) : problem };
  }
}

/** Schema of one kind of frame. */
export function frameSchema(op: Exclude<Op, 'submit'>): z.ZodObject {
  const schema = SCHEMAS.get(op);
  if (schema === undefined) throw new Error(`ClientFrame has no variant ${op}`);
  return schema;
}

/** Frame of a submission; as over HTTP, its arguments are not walked here. */
export const SubmitFrame = z.strictObject({ ...SCHEMAS.get('submit')?.shape, call: SubmitCallRequest });

function assertSize(op: unknown, text: string): void {
  if (op === 'submit') return;
  const bytes = Buffer.byteLength(text);
  if (bytes <= LIMITS.frameBytes) return;
  throw new ProblemError(
    'payload_too_large',
    `The frame has ${bytes} bytes: expected at most ${LIMITS.frameBytes}, or ${LIMITS.submitFrameBytes} for one that submits a call`,
  );
}

function isKnownOp(op: unknown): op is Op {
  return SCHEMAS.has(op);
}

function unknownOp(): ProblemError {
  return new ProblemError('invalid_request', `The frame has no known op: expected a JSON object with one of ${OPS}`, {
    errors: [{ pointer: '/op', message: `expected one of ${OPS}` }],
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
