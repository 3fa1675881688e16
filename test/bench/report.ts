import { serverCpu, type Measured } from './figures.js';
import { median } from './load.js';
import { LOADS, type Load, type Round, type Rounds } from './rounds.js';
import type { Figures, Verdict } from './verdicts.js';

const TITLES = { flood: 'flood', one: '1 in flight', sixtyFour: '64 in flight' } as const;
const NAMES: Readonly<Record<string, string>> = {
  inProcess: 'raw BullMQ, in-process',
  piped: 'raw BullMQ, piped',
  toolyard: 'Toolyard',
  batches: 'Toolyard, batches of 100',
};
const PROCESSES = ['gateway', 'worker', 'projector', 'sealer', 'redis', 'postgres', 'client'] as const;

export function printTable({ always, everysec, whole, front, updates }: Figures, judged: readonly Verdict[]): void {
  console.log('');
  for (const { figure, value, gate, goal, verdict } of judged) {
    const cells = [value, `gate ${gate}`, `goal ${goal}`].map((cell) => cell.padEnd(18));
    console.log(figure.padEnd(46) + cells.join('') + (gate === '–' && goal === '–' ? '' : verdict));
  }
  printRounds('AOF always', always);
  printRounds('AOF everysec', everysec);
  console.log(
    `\nwhole run, until the log was sealed; CPU µs a call: ${cpuColumns(whole)}; servers ${serverCpu({ cpu: whole }).toFixed(0)}`,
  );
  console.log(
    `HTTP front: ${front.frontMicros.toFixed(0)} µs CPU a request, bare Fastify ${front.bareMicros.toFixed(0)} µs; updates spared to slow sockets: ${updates.spared}\n`,
  );
}

function printRounds(title: string, rounds: Rounds): void {
  for (const load of loadsOf(rounds)) {
    console.log(`\n${TITLES[load]}, ${title}`);
    for (const name of namesOf(rounds[load])) console.log(line(NAMES[name] ?? name, runsOf(rounds[load], name)));
  }
}

function loadsOf(rounds: Rounds): Load[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys are those of the type
  return (Object.keys(LOADS) as Load[]).filter((load) => rounds[load].length > 0);
}

function namesOf(rounds: readonly Round[]): string[] {
  return Object.keys(NAMES).filter((name) => rounds.some((round) => name in round));
}

function runsOf(rounds: readonly Round[], name: string): Measured[] {
  return rounds.flatMap((round) => round[name] ?? []);
}

function line(title: string, runs: readonly Measured[]): string {
  const mid = (read: (run: Measured) => number) => median(runs.map(read));
  const processes = Object.keys(runs[0]?.cpu ?? {});
  const cpu = Object.fromEntries(processes.map((name) => [name, mid((run) => run.cpu[name] ?? 0)]));
  const resident = processes.map((name) => `${name} ${mid((run) => run.resident[name] ?? 0).toFixed(0)}`);
  const figures = [
    `${mid((run) => run.callsPerSecond).toFixed(0)} calls/s`,
    `p50 ${mid((run) => run.p50Ms).toFixed(2)} ms`,
    `p99 ${mid((run) => run.p99Ms).toFixed(2)} ms`,
    `${mid((run) => run.commands).toFixed(1)} commands`,
  ];
  return `  ${title.padEnd(26)}${figures.join('  ')}\n    CPU µs a call: ${cpuColumns(cpu)}; servers ${mid(serverCpu).toFixed(0)}\n    MiB: ${resident.join(', ')}`;
}

function cpuColumns(cpu: Readonly<Record<string, number>>): string {
  return PROCESSES.filter((name) => name in cpu)
    .map((name) => `${name} ${(cpu[name] ?? 0).toFixed(0)}`)
    .join(', ');
}
