import type { AnomalySettings } from '#contracts';
import { BASELINE_SYSCALLS, syscallName } from './syscalls.js';

export type AlertKind = 'unknown_syscall' | 'denied_syscall' | 'denied_rate_exceeded' | 'event_rate_exceeded';

/** Alert about unusual system calls in the output of a command. At most one for each line, with all reasons. */
export interface SecurityAlert {
  readonly kinds: readonly AlertKind[];
  /** The first word of the command. */
  readonly command: string;
  readonly syscall?: string;
  /** The line, at most 240 characters. */
  readonly sample: string;
  readonly deniedLastMinute: number;
  readonly eventsLastMinute: number;
}

const MINUTE_MS = 60_000;
const SAMPLE_CHARACTERS = 240;
const COMMAND_CHARACTERS = 64;
const REMEMBERED_EVENTS = 10_000;
const RELEVANT = /syscall|seccomp|sigsys|bad system call|audit[(:]/i;
const DENIED = /denied|blocked|forbidden|bad system call|sigsys|operation not permitted|\beperm\b|killed/i;
const SYSCALL = /\b(?:syscall(?:_name)?|system\s+call)\s{0,8}(?:nr|number)?\s{0,8}[=:]?\s{0,8}"?([A-Za-z0-9_]{1,40})/i;

/**
 * Looks at the output of commands for what seccomp and the audit system write there. Remembers a minute of events of this
 * process; raises a bounded number of alerts, and the same one not again within the cooldown. Knows no clock: times come in, in ms.
 */
export class SyscallAnomalyDetector {
  private readonly baseline: ReadonlySet<string>;
  private events: { readonly at: number; readonly denied: boolean }[] = [];
  private alertsAt: number[] = [];
  private readonly raisedAt = new Map<string, number>();

  constructor(private readonly settings: AnomalySettings) {
    this.baseline = new Set(settings.baseline ?? BASELINE_SYSCALLS);
  }

  inspect(command: string, output: string, now: number): SecurityAlert[] {
    if (!RELEVANT.test(output)) return [];
    const alerts: SecurityAlert[] = [];
    for (const line of output.split('\n')) {
      const alert = RELEVANT.test(line)
        ? this.inspectLine(command.trim().split(/\s+/, 1)[0]?.toLowerCase().slice(0, COMMAND_CHARACTERS) ?? '', line.trim(), now)
        : undefined;
      if (alert !== undefined) alerts.push(alert);
    }
    return alerts;
  }

  private inspectLine(command: string, line: string, now: number): SecurityAlert | undefined {
    const syscall = syscallName(SYSCALL.exec(line)?.[1]);
    const denied = DENIED.test(line);
    if (syscall === undefined && !denied && !/seccomp/i.test(line)) return undefined;

    this.events = this.events.filter(({ at }) => now - at < MINUTE_MS).slice(-REMEMBERED_EVENTS);
    this.events.push({ at: now, denied });
    const deniedLastMinute = this.events.filter((event) => event.denied).length;
    const { strict, maxDeniedPerMinute, maxEventsPerMinute } = this.settings;
    const kinds: AlertKind[] = [];
    if (syscall !== undefined && !this.baseline.has(syscall)) kinds.push('unknown_syscall');
    if (strict && denied) kinds.push('denied_syscall');
    if (deniedLastMinute > maxDeniedPerMinute) kinds.push('denied_rate_exceeded');
    if (this.events.length > maxEventsPerMinute) kinds.push('event_rate_exceeded');
    const withoutRepeats = this.fresh(kinds, `${syscall ?? ''} ${command}`, now);
    if (withoutRepeats.length === 0) return undefined;
    return {
      kinds: withoutRepeats,
      command,
      ...(syscall === undefined ? {} : { syscall }),
      sample: line.slice(0, SAMPLE_CHARACTERS),
      deniedLastMinute,
      eventsLastMinute: this.events.length,
    };
  }

  /** Alert kinds without an alert within the cooldown; none at the limit of alerts per minute. */
  private fresh(kinds: readonly AlertKind[], about: string, now: number): AlertKind[] {
    this.alertsAt = this.alertsAt.filter((at) => now - at < MINUTE_MS);
    const { cooldownMs, maxAlertsPerMinute } = this.settings;
    for (const [key, at] of this.raisedAt) if (now - at >= cooldownMs) this.raisedAt.delete(key);
    const fresh = kinds.filter((kind) => !this.raisedAt.has(`${kind} ${about}`));
    if (fresh.length === 0 || this.alertsAt.length >= maxAlertsPerMinute) return [];
    this.alertsAt.push(now);
    for (const kind of fresh) this.raisedAt.set(`${kind} ${about}`, now);
    return fresh;
  }
}
