import { constants } from 'node:os';
import { type CapturedOutput, type ProcessReport, type ResourceLimits, cutToBytes } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import type { FullCommandForm } from './command-form.js';

const LAST_OUTPUT_CHARS = 800;
/** Shells, and bubblewrap, tell by 128 + its number which signal ended a program. */
const SIGNAL_BASE = 128;
const NO_NETWORK =
  /could not resolve|temporary failure in name resolution|name or service not known|network is unreachable|EAI_AGAIN|ENETUNREACH|getaddrinfo/i;

type Redacting = Pick<ToolContext, 'redact'>;

/** No more of a stream than the form keeps. */
export function withinLimit(output: CapturedOutput, { stream }: FullCommandForm): CapturedOutput {
  if (stream === undefined || Buffer.byteLength(output.text) <= stream.bytes) return output;
  return { ...output, text: cutToBytes(output.text, stream.bytes), truncated: true };
}

/** Redacts a truncated stream at its cut: half of a secret would not be recognised later. */
export function redactTruncatedOutput(output: CapturedOutput, { redact }: Redacting): CapturedOutput {
  return output.truncated ? { ...output, text: redact(output.text, true) } : output;
}

export function exitText(
  report: ProcessReport,
  ran: { readonly limits: ResourceLimits | undefined; readonly network: 'none' | 'host' },
  form: FullCommandForm,
): string {
  const { exit: ending, stdout, stderr } = report;
  const output = outputText(stdout, stderr, form);
  const code = ending.how === 'exited' ? ending.code : -1;
  if (code === 0) return output === '' ? 'command completed with no output' : output;
  if (form.failed !== undefined) return form.failed(code, output);
  const signal = ending.how === 'signalled' ? ending.signal : undefined;
  const hints = [limitHint(signal ?? signalOf(code), ran.limits), networkHint(stderr.text, ran.network)];
  const exit = [`Exit code: ${code}`, ...(signal === undefined ? [] : [`Signal: ${signal}`]), ...hints.flatMap((hint) => hint ?? [])].join(
    '\n',
  );
  return `${output}${output === '' || output.endsWith('\n') ? '' : '\n'}${exit}`;
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

/** What to say of a command that was killed for what it used; undefined for every other end. */
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

function outputText(stdout: CapturedOutput, stderr: CapturedOutput, form: FullCommandForm): string {
  const out = withCutNote('stdout', stdout, form);
  const err = withCutNote('stderr', stderr, form);
  return out !== '' && err !== '' ? `stdout:\n${out}\n\nstderr:\n${err}` : out + err;
}

function withCutNote(stream: string, { text, bytes, truncated }: CapturedOutput, form: FullCommandForm): string {
  if (!truncated) return text;
  if (form.stream !== undefined) return text + form.stream.cut(stream);
  return `${text}\n[${stream} truncated — ${Buffer.byteLength(text).toLocaleString('en')} of ${bytes.toLocaleString('en')} bytes kept]`;
}

export function lastOutput(shown: Redacting['redact'], ...streams: readonly CapturedOutput[]): string {
  const parts = streams.map(({ text }) => shown(text).slice(-LAST_OUTPUT_CHARS).trim()).filter((text) => text !== '');
  return parts.length === 0 ? '' : `\n\nLast output:\n${parts.join('\n')}`;
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576).toLocaleString('en')} MiB`;
}
