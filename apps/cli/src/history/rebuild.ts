import type { CommandContext } from '../command-context.js';
import { EXIT } from '../exit-code.js';
import { UsageError } from '../usage-error.js';

/** Timeout of a statement, which may delete all rows of a partition. */
const STATEMENT_TIMEOUT_MS = 30 * 60_000;
const DEFAULT_PARTITIONS = 16;
const START_TIMEOUT_MS = 15_000;

/** Makes the rows of the history again from the event log. Needs REDIS_URL, DATABASE_URL and PARTITIONS as a projector has them, and no gateway. */
export async function rebuild(
  { terminal, json, interrupts }: Pick<CommandContext, 'terminal' | 'json' | 'interrupts'>,
  env: NodeJS.ProcessEnv,
) {
  const { redisUrl, databaseUrl, archiveUrl, partitions } = readEnvironment(env);
  const [{ createRedis }, { LogReader }, { waitForRedis, StartupError }, { openArchivedLog }, history] = await Promise.all([
    import('#redis'),
    import('#event-log'),
    import('#platform'),
    import('#sealing'),
    import('#history'),
  ]);
  const wait = {
    what: 'projector' as const,
    id: `history-rebuild-${process.pid}`,
    redisUrl,
    archiveUrl,
    partitions,
    startTimeoutMs: START_TIMEOUT_MS,
  };
  await waitForRedis(wait).catch((error: unknown) => {
    throw error instanceof StartupError ? new UsageError(error.message) : error;
  });
  const redis = createRedis(redisUrl, { name: 'history-rebuild' });
  const db = history.openHistoryDatabase({
    url: databaseUrl,
    name: 'toolyard-history-rebuild',
    connections: 2,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    onError: () => {},
  });
  try {
    await history.migrateHistory(db);
    await history.rebuildHistory({
      db,
      source: new LogReader(
        redis,
        archiveUrl === undefined ? undefined : await openArchivedLog(archiveUrl, new history.ContentKeyStore(db)),
      ),
      partitions,
      signal: interrupts.signal,
      onSkipped: (callId) => terminal.note(`The database refuses the row of call ${callId}: it stays out of lists`),
      onPartition: ({ partition, entries, skipped }) => {
        if (json) terminal.json({ partition, entries, skipped });
        else
          terminal.line(
            `partition ${partition}: ${entries} events${skipped.length === 0 ? '' : `, ${skipped.length} of which cannot be read`}`,
          );
      },
    });
    return EXIT.completed;
  } catch (error) {
    if (interrupts.signal.aborted) return EXIT.interrupted;
    terminal.note(`toolyard: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT.failed;
  } finally {
    await db.destroy();
    redis.disconnect();
  }
}

function readEnvironment(env: NodeJS.ProcessEnv) {
  const { REDIS_URL: redisUrl, DATABASE_URL: databaseUrl, ARCHIVE_URL: archiveUrl, PARTITIONS: count } = env;
  if (!redisUrl || !databaseUrl) {
    throw new UsageError(
      'Set REDIS_URL and DATABASE_URL (ARCHIVE_URL too where there is one, and PARTITIONS where it is not 16), as the projector has them. ' +
        'For a Toolyard of npm start: stop it and delete the folder postgres in its data folder; it makes the rows at its next start. ' +
        'Not where a tenant is erasable: that folder also has the keys of archived content.',
    );
  }
  const partitions = Number(count || DEFAULT_PARTITIONS);
  if (!Number.isInteger(partitions) || partitions < 1 || partitions > 999)
    throw new UsageError(`PARTITIONS: expected 1 to 999, got ${count}`);
  return { redisUrl, databaseUrl, archiveUrl: archiveUrl || undefined, partitions };
}
