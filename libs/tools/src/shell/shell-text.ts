import { constants } from 'node:os';
import { type CapturedOutput, type ProcessReport, type ResourceLimits, cutToBytes } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import type { FullCommandForm } from './command-form.js';

const LAST_OUTPUT_CHARS = 800;
const ERROR_LINE_CHARS = 500;
/** Characters stored of the end of any stream. */
const END_CHARS = 98_304;
/** No secret that is recognised is as long. */
const SECRET_CHARS = 20_480;
/** Distance within which a line border is better than a cut in a line. */
const LINE_CHARS = 4_096;
/** Shells, and bubblewrap, tell by 128 + its number which signal ended a program. */
const SIGNAL_BASE = 128;
const NO_NETWORK =
  /could not resolve|temporary failure in name resolution|name or service not known|network is unreachable|EAI_AGAIN|ENETUNREACH|getaddrinfo/i;

type Redacting = Pick<ToolContext, 'redact'>;

/**
 * A stream as the model may see it: beginning and end, where it is too long for the form or was not kept whole. Both are
 * redacted at the cut, since half of a secret would not be recognised later.
 */
export function visibleOutput(output: CapturedOutput, { stream }: FullCommandForm, { redact }: Redacting): CapturedOutput {
  const text = stream === undefined ? output.text : cutToBytes(output.text, stream.bytes);
  if (!output.truncated && text.length === output.text.length) return output;
  if (stream === undefined && !output.hasGap) return { ...output, text: output.text + output.tail, tail: '', truncated: false };
  return { ...output, text: redact(text, true), tail: endOf(output, redact), truncated: true, hasGap: true };
}

/** The last characters of a stream, redacted, from a line border where one is near. */
function endOf({ text, tail, hasGap }: CapturedOutput, redact: Redacting['redact']): string {
  const whole = hasGap ? tail : text + tail;
  if (!hasGap && whole.length <= END_CHARS) return redact(whole);
  const end = whole.slice(-END_CHARS);
  // Skips a possible partial secret.
  const behind = redact(end).slice(redact(end.slice(0, SECRET_CHARS), true).length);
  const line = behind.indexOf('\n') + 1;
  return behind.slice(line < LINE_CHARS ? line : 0).replace(/^[\uDC00-\uDFFF]/, '');
}

/** The texts for the model about a command: a text for each stream that it wrote to, the last one with how it ended. */
export function exitTexts(
  report: ProcessReport,
  ran: { readonly limits: ResourceLimits | undefined; readonly network: 'none' | 'host' },
  form: FullCommandForm,
): string[] {
  const { exit: ending, stdout, stderr } = report;
  const outputs = outputTexts(stdout, stderr, form);
  const code = ending.how === 'exited' ? ending.code : -1;
  if (code === 0) return outputs.length === 0 ? ['command completed with no output'] : outputs;
  if (form.failed !== undefined) return [form.failed(code, outputs.join('\n'))];
  const signal = ending.how === 'signalled' ? ending.signal : undefined;
  const hints = [limitHint(signal ?? signalOf(code), ran.limits), networkHint(stderr.text + stderr.tail, ran.network)];
  const exit = [`Exit code: ${code}`, ...(signal === undefined ? [] : [`Signal: ${signal}`]), ...hints.flatMap((hint) => hint ?? [])].join(
    '\n',
  );
  const last = outputs.pop() ?? '';
  return [...outputs, `${last}${last === '' || last.endsWith('\n') ? '' : '\n'}${exit}`];
}

/** Cancel, drain and the like carry their own reason; the run deadline of the call and the command's own limit read alike. */
export function abortError(
  { exit, durationMs, stdout, stderr }: ProcessReport,
  { signal, redact }: Redacting & Pick<ToolContext, 'signal'>,
  limitMs: number,
  form: FullCommandForm,
): ToolError {
  const killed = exit.how === 'killed';
  const mayHaveFinished = exit.how === 'stopped' && exit.code === 0;
  const reason = signal.aborted && signal.reason instanceof ToolError ? signal.reason : undefined;
  if (reason !== undefined && reason.code !== 'run_timeout')
    return new ToolError(reason.code, reason.message, { ...reason.options, killed, mayHaveFinished });
  const ranMs = reason === undefined ? limitMs : durationMs - ('tookMs' in exit ? exit.tookMs : 0);
  return new ToolError('run_timeout', `${form.timedOut(ranMs)}${lastOutput(redact, stdout, stderr)}`, { killed, mayHaveFinished });
}

/** Error of a command killed for its resource use; undefined for any other end. */
export function limitError({ exit, stdout, stderr }: ProcessReport, { redact }: Redacting): ToolError | undefined {
  if (exit.how !== 'over_limit') return undefined;
  const { limit, used, allowed } = exit.overrun;
  const what =
    limit === 'memory'
      ? `Command used ${mebibytes(used)} of memory, more than the ${mebibytes(allowed)} it may`
      : `Command had ${used} processes at once, more than the ${allowed} it may`;
  return new ToolError('tool_failed', `${what}, and was killed${lastOutput(redact, stdout, stderr)}`, { killed: true });
}

function limitHint(signal: string | undefined, limits: ResourceLimits | undefined): string | undefined {
  if (limits === undefined) return undefined;
  if (signal === 'SIGXCPU') return `The command used the ${limits.cpuSeconds} seconds of processor time that a process may.`;
  if (signal === 'SIGXFSZ') return `The command wrote a file larger than the ${mebibytes(limits.fileBytes)} that are allowed.`;
  return undefined;
}

function networkHint(stderr: string, network: 'none' | 'host'): string | undefined {
  return network === 'none' && NO_NETWORK.test(stderr) ? 'Commands have no network here.' : undefined;
}

function signalOf(code: number): string | undefined {
  return Object.entries(constants.signals).find(([, number]) => number === code - SIGNAL_BASE)?.[0];
}

/** Texts of the streams without empty ones, for joining by line ends. */
function outputTexts(stdout: CapturedOutput, stderr: CapturedOutput, form: FullCommandForm): string[] {
  const out = withCutNote('stdout', stdout, form);
  const err = withCutNote('stderr', stderr, form);
  if (out !== '' && err !== '') return [`stdout:\n${out}\n`, `stderr:\n${err}`];
  return [out, err].filter((text) => text !== '');
}

function withCutNote(stream: string, output: CapturedOutput, form: FullCommandForm): string {
  const text = streamText(stream, output, form);
  return output.truncated && form.stream !== undefined ? text + form.stream.cut(stream) : text;
}

/** Beginning and end of a stream, and between them what was not kept; for a form that cuts streams its beginning. */
export function streamText(stream: string, { text, tail, shownBytes, truncated }: CapturedOutput, form: FullCommandForm): string {
  if (!truncated || form.stream !== undefined) return text;
  const missing = shownBytes - Buffer.byteLength(text) - Buffer.byteLength(tail);
  return `${text}\n[${stream} truncated — ${missing.toLocaleString('en')} of ${shownBytes.toLocaleString('en')} bytes were not kept]\n${tail}`;
}

export function lastOutput(redact: Redacting['redact'], ...streams: readonly CapturedOutput[]): string {
  const parts = streams.map((stream) => endOf(stream, redact).slice(-LAST_OUTPUT_CHARS).trim()).filter((text) => text !== '');
  return parts.length === 0 ? '' : `\n\nLast output:\n${parts.join('\n')}`;
}

/** Lines with the place or the circumstances of a failure, without its reason. */
const BESIDE = /^(?:at |Node\.js v\d|npm (?:error|ERR!) (?:A complete log|.*-debug-\d)|\W*$)/;

/** Last line with the reason of a failure: of stderr, else of stdout. Without secrets, colours and line ends. */
export function errorLine({ stdout, stderr }: Pick<ProcessReport, 'stdout' | 'stderr'>, { redact }: Redacting): string | undefined {
  for (const stream of [stderr, stdout]) {
    const lines = endOf(stream, redact)
      .split('\n')
      .map((line) => line.trim());
    const line = lines.findLast((each) => !BESIDE.test(each));
    if (line !== undefined) return line.slice(0, ERROR_LINE_CHARS).replace(/[\uD800-\uDBFF]$/, '');
  }
  return undefined;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576).toLocaleString('en')} MiB`;
}
