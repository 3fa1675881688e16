import { LIMITS, type ClaimCheck, type EndData, type Result } from '#contracts';
import { BLOB_LIMITS, type BlobStore } from '#event-log';
import { sha256Hex } from '#redis';
import { telemetry } from '#observability';
import { cutUtf8 } from './cut-text.js';
import { joinTexts, limitOutput, type OutputCut } from './limit-output.js';

/** A result above this many bytes of JSON is stored out of line. */
export const INLINE_BYTES = 6_144;
const PREVIEW_BYTES = 1_024;
/** Bytes of text that fit into an event in any escaping. */
const LAST_RESORT_BYTES = 1_000;

export interface KeepOptions {
  readonly modelBytes?: number | undefined;
  readonly remark?: string | undefined;
  readonly seenBytes?: number | undefined;
  /** See `ToolOutputObject`. */
  readonly readOn?: ((fromByte: number) => string) | undefined;
  /** Bytes of the end, if beginning and end are kept. Default: three quarters for an error, else a quarter. */
  readonly tailBytes?: number | undefined;
}

/**
 * Keeps a small result in End and stores a large one out of line, with its full text when the model gets only a part.
 */
export class ResultStore {
  constructor(
    private readonly callId: string,
    private readonly blobs: Pick<BlobStore, 'put'>,
  ) {}

  /**
   * Stores a large result. `seenBytes`: size of the whole text, if the result has less. `remark` is appended to the output,
   * with at most half of the room. Values are stored before the answer, so that End never refers to a missing one. If storing
   * fails (too large, no room), the answer has as much as fits into End, marked as truncated.
   */
  async keep(
    toolResult: Result,
    tool: string,
    { modelBytes = LIMITS.modelOutputBytes, remark, ...options }: KeepOptions = {},
  ): Promise<Pick<EndData, 'result' | 'resultRef' | 'output'>> {
    const result = options.readOn === undefined ? toolResult : { ...toolResult, content: [...joinTexts(toolResult.content)] };
    // The text for the model is a part of the JSON: if all of that fits, no cut is needed.
    if (remark === undefined && isWithin(JSON.stringify(result), Math.min(modelBytes, INLINE_BYTES))) return { result };
    const remarks = remark === undefined ? [] : [{ type: 'text' as const, text: cutUtf8(remark, Math.floor(modelBytes / 2)) }];
    const room = modelBytes - remarks.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
    const cut = cutOf(result, room, options);
    const limited = limitOutput(toolResult.content, room, cut);
    if (!limited.whole)
      return this.inlineOrBeside(remarks.length === 0 ? result : { ...result, content: [...result.content, ...remarks] }, options);
    telemetry.outputTruncated.emit({ tool });
    const { text, bytes } = limited.whole;
    const output = await this.put('output', bytes > BLOB_LIMITS.bytes ? cutUtf8(text, BLOB_LIMITS.bytes) : text);
    const truncated = this.truncated(options.seenBytes ?? bytes);
    const forModel = await this.inlineOrBeside({ ...result, content: [...limited.content, ...remarks], truncated }, options);
    return { ...forModel, ...(output ? { output } : {}) };
  }

  private async inlineOrBeside(result: Result, options: KeepOptions): Promise<Pick<EndData, 'result' | 'resultRef'>> {
    const text = JSON.stringify(result);
    if (isWithin(text, INLINE_BYTES)) return { result };
    const resultRef = await this.put('result', text);
    return resultRef ? { resultRef } : { result: this.truncatedInline(result, options) };
  }

  private async put(ref: 'result' | 'output', text: string): Promise<ClaimCheck | undefined> {
    const bytes = Buffer.from(text);
    try {
      // Values above 8 MiB are rejected here, too.
      await this.blobs.put(this.callId, ref, bytes);
    } catch {
      return undefined;
    }
    return { ref, sha256: sha256Hex(bytes), bytes: bytes.byteLength, preview: cutUtf8(text, PREVIEW_BYTES) };
  }

  private truncatedInline(result: Result, options: KeepOptions): Result {
    const texts = result.content.filter((item) => item.type === 'text' || item.type === 'json');
    const { content, whole } = limitOutput(texts, LAST_RESORT_BYTES, cutOf(result, LAST_RESORT_BYTES, options));
    const originalBytes = result.truncated?.originalBytes ?? whole?.bytes ?? Buffer.byteLength(JSON.stringify(result));
    return { content: [...content], isError: result.isError, truncated: this.truncated(originalBytes) };
  }

  private truncated(originalBytes: number): NonNullable<Result['truncated']> {
    return { originalBytes, artifactUri: `/v1/calls/${this.callId}/output` };
  }
}

/** Cut of a text of more than `limitBytes`. */
function cutOf({ isError }: Result, limitBytes: number, { seenBytes, readOn, tailBytes }: KeepOptions): OutputCut {
  if (readOn === undefined) return { seenBytes };
  return { seenBytes, ends: { tailBytes: tailBytes ?? Math.floor(limitBytes * (isError ? 0.75 : 0.25)), readOn } };
}

function isWithin(text: string, bytes: number): boolean {
  return text.length <= bytes && Buffer.byteLength(text) <= bytes;
}
