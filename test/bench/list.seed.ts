import type { CallEvent, CallEventOf } from '#contracts';
import { HistoryProjector, migrateHistory, openHistoryDatabase, type LogEntry, type LogSource } from '#history';
import { partitionOfRoot } from '#redis';

export const SEED = { tenantId: 'default', partitions: 16, sessionCalls: 10, spreadMs: 24 * 3_600_000 } as const;
const TOOLS = ['shell', 'file_read', 'file_write', 'file_edit', 'glob', 'web_fetch', 'file_search', 'echo', 'sleep', 'file_list'] as const;
const POOL = { shell: 'shell', file_read: 'read', file_write: 'write', file_edit: 'write', glob: 'read', web_fetch: 'net' } as const;
const WORDS = 'alpha build cache deploy error fetch graph hotel index json kernel lambda migrate nginx object parser query router'.split(
  ' ',
);
const MESSAGES = [
  'Exit code 1: no such file "src/x.ts"',
  'Timed out after 3021 ms',
  'HTTP 503 from https://api.example/v1/items',
  'Permission denied: /etc/x',
];
const EVENTS_A_CALL = 3;

export interface Seeded {
  readonly seconds: number;
  readonly nodeMicrosPerCall: number;
}

/**
 * Stores so many ended calls (the newest 500 still run) of 10 tools, 40 agents and sessions of 10 calls each, as the
 * projector would have from the log: same fold, same statements, same batches. The log itself is left out, since no list reads it.
 */
export async function seedCalls(databaseUrl: string, calls: number): Promise<Seeded> {
  const onError = (error: unknown) => console.error(error);
  const db = openHistoryDatabase({ url: databaseUrl, name: 'seed', connections: 3, statementTimeoutMs: 600_000, onError });
  await migrateHistory(db);
  const byPartition = Array.from({ length: SEED.partitions }, (): number[] => []);
  for (let call = 0; call < calls; call += 1)
    byPartition[Number(partitionOfRoot(SEED.tenantId, sessionOf(call), SEED.partitions))]?.push(call);
  const startedAt = performance.now();
  const cpu = process.cpuUsage();
  const source = new MadeLog(byPartition, calls, Date.now() - SEED.spreadMs);
  const projector = new HistoryProjector({ db, log: source, partitions: SEED.partitions });
  while (await projector.round());
  const seconds = (performance.now() - startedAt) / 1000;
  const used = process.cpuUsage(cpu);
  await db.destroy();
  return { seconds, nodeMicrosPerCall: (used.user + used.system) / calls };
}

export function sessionOf(call: number): string {
  return `session-${Math.floor(call / 160) * 16 + (call % 16)}`;
}

/** A log that is made while it is read, so that nothing of it is kept. */
class MadeLog implements LogSource {
  constructor(
    private readonly byPartition: readonly (readonly number[])[],
    private readonly calls: number,
    private readonly firstAt: number,
  ) {}

  read(partition: string, fromSeq: number, limit: number): Promise<{ epoch: number; entries: LogEntry[] }> {
    const calls = this.byPartition[Number(partition)] ?? [];
    const entries: LogEntry[] = [];
    for (let seq = fromSeq; seq < fromSeq + limit; seq += 1) {
      const call = calls[Math.floor((seq - 1) / EVENTS_A_CALL)];
      if (call === undefined) break;
      const step = (seq - 1) % EVENTS_A_CALL;
      const running = call >= this.calls - 500;
      entries.push({ seq, mark: String(seq), size: 0, event: running && step === 2 ? undefined : this.event(partition, call, step) });
    }
    return Promise.resolve({ epoch: 1, entries });
  }

  end(partition: string): Promise<number> {
    return Promise.resolve((this.byPartition[Number(partition)]?.length ?? 0) * EVENTS_A_CALL);
  }

  private event(partition: string, call: number, step: number): CallEvent {
    const tool = toolOf(call);
    const at = this.firstAt + Math.floor((call / this.calls) * SEED.spreadMs);
    const envelope = {
      specversion: '1.0',
      id: `1.${Number(partition)}.1`,
      source: '/seed',
      subject: `${partition}-01JZ${call.toString(32).toUpperCase().replaceAll('U', 'X').padStart(22, '0')}`,
      datacontenttype: 'application/json',
      dataschema: '',
      tenantid: SEED.tenantId,
      agentid: `agent-${call % 40}`,
      sessionid: sessionOf(call),
      tool,
      callver: step + 1,
      fence: 0,
      actor: 'seed',
    } as const;
    const time = (ms: number) => new Date(at + ms).toISOString();
    if (step === 0) return { ...envelope, type: 'call.submitted', attempt: 0, time: time(0), data: submission(call) };
    if (step === 1) return { ...envelope, type: 'call.start', attempt: 1, time: time(5 + (call % 90)), data: { tool, worker: 'w' } };
    return { ...envelope, type: 'call.end', attempt: 1, time: time(100 + (call % 4000)), data: endOf(call) };
  }
}

function toolOf(call: number): (typeof TOOLS)[number] {
  return TOOLS[(call * 7 + Math.floor(call / 13)) % TOOLS.length] ?? 'echo';
}

function submission(call: number): CallEventOf<'call.submitted'>['data'] {
  const tool = toolOf(call);
  const word = (n: number) => WORDS[(call * n + Math.floor(call / 31)) % WORDS.length] ?? '';
  return {
    tool,
    arguments: { path: `/work/${word(3)}/${word(5)}-${call % 5000}.ts`, command: `${word(7)} ${word(11)} --id ${call.toString(36)}` },
    source: 'builtin',
    toolVersion: '1',
    argumentsDigest: '',
    tier: 'read_only',
    effect: 'pure',
    pool: tool in POOL ? POOL[tool as keyof typeof POOL] : 'read',
    priority: call % 50 === 0 ? 'high' : 'normal',
    timeouts: { queueMs: 1, runMs: 1, totalMs: 1 },
    retry: { maxAttempts: 1, backoffMs: 0, maxBackoffMs: 0 },
    decision: { effect: 'allow', reasons: [] },
    labels: call % 10 === 0 ? { team: word(2) } : {},
  };
}

function endOf(call: number): CallEventOf<'call.end'>['data'] {
  const numbers = { attempts: 1, runMs: 95 + (call % 3900) };
  if (call % 20 !== 0) return { ...numbers, outcome: 'completed' };
  const message = MESSAGES[Math.floor(call / 20) % MESSAGES.length] ?? '';
  const code = call % 60 === 0 ? 'run_timeout' : 'tool_failed';
  return { ...numbers, outcome: call % 60 === 0 ? 'timed_out' : 'failed', error: { code, message, retryable: false } };
}
