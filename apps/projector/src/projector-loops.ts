import type { Logger } from 'pino';
import type { HistoryProjector, HistoryRetention, HourSummer } from '#history';
import { telemetry } from '#observability';
import type { Archiver, ArchiveRetention, Eraser } from '#sealing';
import { RoundLoop, type RoundLoopOptions } from './round-loop.js';

/** What a projector does again and again; undefined: it has no database, or no archive. */
export interface ProjectorParts {
  readonly projector: HistoryProjector | undefined;
  readonly summer: HourSummer | undefined;
  readonly retention: HistoryRetention | undefined;
  readonly archiver: Archiver | undefined;
  readonly archiveRetention: ArchiveRetention | undefined;
  readonly eraser: Eraser | undefined;
}

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

/** In the order in which they are closed. */
export function projectorLoops(parts: ProjectorParts, log: Logger): readonly RoundLoop[] {
  const loops = [
    parts.retention && retentionLoop(parts.retention, log),
    parts.archiveRetention && archiveRetentionLoop(parts.archiveRetention, log),
    parts.summer && loop('sums', parts.summer, 60 * SECOND_MS, (err) => log.warn({ err }, STEP_FAILED)),
    // Lists read what is newer than the rows from the log themselves.
    parts.projector && loop('projector', parts.projector, SECOND_MS / 2, (err) => log.warn({ err }, STEP_FAILED), true),
    parts.eraser && loop('eraser', parts.eraser, 2 * SECOND_MS, (err) => log.error({ err }, 'an erasure failed and is repeated')),
    parts.archiver && archiverLoop(parts.archiver, log),
  ];
  return loops.flatMap((one) => one ?? []);
}

const STEP_FAILED = 'a step of the projector failed and is repeated';

interface Rounds {
  round(signal: AbortSignal): Promise<unknown>;
}

function loop(name: string, rounds: Rounds, pauseMs: number, onError: RoundLoopOptions['onError'], isVital = false): RoundLoop {
  return new RoundLoop({ name, isVital, pauseMs, round: (signal) => rounds.round(signal), onError });
}

function archiverLoop(archiver: Archiver, log: Logger): RoundLoop {
  const onError = (err: unknown) => {
    telemetry.sealingFailed.emit({});
    log.error({ err }, 'a step of the archiver failed and is repeated');
  };
  return loop('archiver', archiver, SECOND_MS, onError, true);
}

function retentionLoop(retention: HistoryRetention, log: Logger): RoundLoop {
  const round = async (signal: AbortSignal) => {
    telemetry.historyRetained.emit({ ok: true, ...(await retention.round(signal)) });
  };
  return loop('retention', { round }, HOUR_MS, (err) => {
    telemetry.historyRetained.emit({ ok: false, calls: 0, weeks: 0 });
    log.error({ err }, 'the retention of the history failed; it is tried again in an hour');
  });
}

function archiveRetentionLoop(retention: ArchiveRetention, log: Logger): RoundLoop {
  const round = async (signal: AbortSignal) => {
    telemetry.archiveRetained.emit({ ok: true, oldestMs: (await retention.round(signal)).oldestMs });
  };
  return loop('archive retention', { round }, HOUR_MS, (err) => {
    telemetry.archiveRetained.emit({ ok: false });
    log.error({ err }, 'the retention of the archive failed; it is tried again in an hour');
  });
}
