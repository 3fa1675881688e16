import { z } from 'zod';
import { bytesText } from '../components/bytes.js';

const Details = z
  .looseObject({
    exitCode: z.number(),
    signal: z.string(),
    sandbox: z.string(),
    stdoutBytes: z.number(),
    stderrBytes: z.number(),
  })
  .partial();

/** Facts of a run as reported by tools that run programs, in the words of the page; empty for other details. */
export function runFacts(details: Readonly<Record<string, unknown>> = {}) {
  const known = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null));
  const { exitCode, signal, sandbox, stdoutBytes = 0, stderrBytes = 0 } = Details.safeParse(known).data ?? {};
  const out = stdoutBytes > 0 ? bytesText(stdoutBytes) : '';
  const err = stderrBytes > 0 ? `${bytesText(stderrBytes)} of errors` : '';
  return {
    exitCode: exitCode === undefined ? undefined : String(exitCode),
    signal,
    sandbox: sandbox === 'host' ? 'none: ran on the host' : sandbox,
    outputBytes: [out, err].filter((text) => text !== '').join(', ') || undefined,
  };
}
