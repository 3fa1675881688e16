import { z } from 'zod';
import { dialectTool, definedFields } from './dialect.js';
import { streamsOf } from './facts.js';
import { json, refusalText } from './claude-code-texts.js';

const LONGEST_MS = 600_000;

const bash = dialectTool({
  name: 'bash',
  tool: 'shell',
  description: 'Execute a shell command in the workspace.',
  input: z.strictObject({
    command: z.string().min(1).describe('Command to run.'),
    timeout: z.number().int().min(1).optional().describe('Milliseconds after which the command is killed.'),
    description: z.string().optional().describe('What the command is for.'),
    run_in_background: z.boolean().optional().describe('Return at once with backgroundTaskId. Needs a session.'),
    dangerouslyDisableSandbox: z.boolean().optional().describe('Without effect: the operator chooses the sandbox.'),
  }),
  adapt: ({ command, timeout = LONGEST_MS, run_in_background = false }) => {
    const timeout_ms = Math.min(timeout, LONGEST_MS);
    return { tool: 'shell', args: { command, ...(run_in_background ? { background: true } : { timeout_ms }) } };
  },
  result: (result) => {
    const { data: started } = z.object({ taskId: z.string() }).safeParse(result.facts);
    if (started !== undefined) return bashJson({ stdout: '', stderr: '', interrupted: false, code: null, taskId: started.taskId });
    const { exitCode, stdout, stderr } = streamsOf(result);
    return bashJson({ stdout, stderr, interrupted: false, code: exitCode === 0 ? null : `exit_code:${exitCode}` });
  },
  refusal: (refusal) => {
    if (refusal.code !== 'run_timeout') return refusalText(refusal);
    const stderr = `Command exceeded timeout of ${String(refusal.args?.['timeout_ms'])} ms`;
    return bashJson({ stdout: '', stderr, interrupted: true, code: 'timeout' });
  },
});

function bashJson({
  stdout,
  stderr,
  interrupted,
  code,
  taskId = null,
}: {
  stdout: string;
  stderr: string;
  interrupted: boolean;
  code: string | null;
  taskId?: string | null;
}): string {
  const noOutputExpected = stdout.trim() === '' && stderr.trim() === '';
  return json({
    stdout,
    stderr,
    interrupted,
    backgroundTaskId: taskId,
    returnCodeInterpretation: code,
    noOutputExpected,
    sandboxStatus: null,
  });
}

const repl = dialectTool({
  name: 'REPL',
  tool: 'repl',
  description: 'Run Python, JavaScript or bash code.',
  input: z.strictObject({
    code: z.string().max(100_000).describe('Code to run.'),
    language: z.enum(['python', 'py', 'node', 'javascript', 'js', 'bash', 'sh', 'shell']).describe('Its language.'),
    timeout_ms: z.number().int().min(1).optional().describe('Milliseconds after which it is interrupted.'),
  }),
  adapt: ({ code, language, timeout_ms }) => {
    if (code.trim() === '') throw new Error('code must not be empty');
    return {
      tool: 'repl',
      args: definedFields({ code, language, timeout_ms: timeout_ms === undefined ? undefined : Math.min(timeout_ms, LONGEST_MS) }),
    };
  },
});

const powerShell = dialectTool({
  name: 'PowerShell',
  tool: 'powershell',
  description: 'Execute a PowerShell command in the workspace.',
  input: z.strictObject({
    command: z.string().min(1).describe('Command to run.'),
    timeout: z.number().int().min(1).optional().describe('Milliseconds after which it is killed.'),
    description: z.string().optional().describe('What the command is for.'),
    run_in_background: z.literal(false).optional().describe('Not available for PowerShell.'),
  }),
  adapt: ({ command, timeout = LONGEST_MS }) => ({ tool: 'powershell', args: { command, timeout_ms: Math.min(timeout, LONGEST_MS) } }),
  result: (result) => bash.result?.(result) ?? { content: result.content },
  refusal: (refusal) => bash.refusal?.(refusal) ?? refusalText(refusal),
});

/** Commands and code. */
export const CLAUDE_CODE_COMMANDS = [bash, repl, powerShell];
