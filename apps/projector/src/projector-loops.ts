import type { Logger } from 'pino';
import type { LogGrowth } from '#event-log';
import type { HistoryProjector, HistoryRetention, HourSummer } from '#history';
import { telemetry } from '#observability';
import type { Archiver, ArchiveRetention, Eraser } from '#sealing';
import { RoundLoop, type RoundLoopOptions } from './round-loop.js';

/** Repeated tasks of a projector; undefined without a database, or an archive. */
export interface ProjectorParts {
  readonly projector: HistoryProjector | undefined;
  readonly summer: HourSummer | undefined;
  readonly retention: HistoryRetention | undefined;
  readonly archiver: Archiver | undefined;
  readonly archiveRetention: ArchiveRetention | undefined;
  readonly eraser: Eraser | undefined;
}

const SECOND_MS = 1_000;
/** Longest rest of the projector, which takes over from another one, and of the archiver, which closes segments by age. */
const REST_MS = 10_000;
const HOUR_MS = 3_600_000;

/** Loops in the order of their shutdown. `growth`: makes a reader of the growth of the log. */
export function projectorLoops(parts: ProjectorParts, growth: () => LogGrowth, log: Logger): readonly RoundLoop[] {
  const { retention, archiveRetention, summer, projector, eraser, archiver } = parts;
  const warnOfStep = (err: unknown) => log.warn({ err }, 'a step of the projector failed and is repeated');
  const loops: readonly (RoundLoopOptions | undefined)[] = [
    retention && {
      name: 'retention',
      pauseMs: HOUR_MS,
      round: async (signal) => {
        telemetry.historyRetained.emit({ ok: true, ...(await retention.round(signal)) });
      },
      onFailure: () => telemetry.historyRetained.emit({ ok: false, calls: 0, weeks: 0 }),
      report: (err) => log.error({ err }, 'the retention of the history failed; it is tried again in an hour'),
    },
    archiveRetention && {
      name: 'archive retention',
      pauseMs: HOUR_MS,
      round: async (signal) => {
        telemetry.archiveRetained.emit({ ok: true, oldestMs: (await archiveRetention.round(signal)).oldestMs });
      },
      onFailure: () => telemetry.archiveRetained.emit({ ok: false }),
      report: (err) => log.error({ err }, 'the retention of the archive failed; it is tried again in an hour'),
    },
    summer && { name: 'sums', pauseMs: 60 * SECOND_MS, round: (signal) => summer.round(signal), report: warnOfStep },
    projector && {
      name: 'projector',
      // Vital: while it fails, lists must read newer events from the log themselves.
      isVital: true,
      pauseMs: SECOND_MS / 2,
      rest: { growth: growth(), mostMs: REST_MS },
      round: (signal) => projector.round(signal),
      report: warnOfStep,
    },
    eraser && {
      name: 'eraser',
      pauseMs: 2 * SECOND_MS,
      round: (signal) => eraser.round(signal),
      report: (err) => log.error({ err }, 'an erasure failed and is repeated'),
    },
    archiver && {
      name: 'archiver',
      isVital: true,
      pauseMs: SECOND_MS,
      rest: { growth: growth(), mostMs: REST_MS },
      round: (signal) => archiver.round(signal),
      onFailure: () => telemetry.sealingFailed.emit({}),
      report: (err) => log.error({ err }, 'a step of the archiver failed and is repeated'),
    },
  ];
  return loops.flatMap((options) => (options === undefined ? [] : new RoundLoop(options)));
}
