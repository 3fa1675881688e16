import { EventEmitter } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '../../../../test/support/eventually.js';
import { SigintHandler } from '../sigint-handler.js';
import { startStandalone } from './start.js';

/** Program that notes each signal in a file, and ends with the second one. */
const PROGRAM = `
import { appendFileSync } from 'node:fs';
const file = import.meta.filename + '.log';
let signals = 0;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    appendFileSync(file, signal + ' ');
    if ((signals += 1) === 2) process.exit(7);
  });
setInterval(() => {}, 1_000);
appendFileSync(file, 'up ');
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'toolyard-start-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'passes each %s on to standalone and exits only after it, with its code, when toolyard gets two',
  async (signal) => {
    const standalone = join(folder, `${signal}.mjs`);
    writeFileSync(standalone, PROGRAM);
    const noted = (text: string) =>
      eventually(
        () => existsSync(`${standalone}.log`) && readFileSync(`${standalone}.log`, 'utf8') === text,
        `the program to note ${text}`,
      );
    const exits: number[] = [];
    const source = new EventEmitter();
    const ended = startStandalone({ interrupts: new SigintHandler(source, (code) => exits.push(code)), standalone });
    await noted('up ');
    source.emit(signal, signal);
    await noted(`up ${signal} `);
    source.emit(signal, signal);
    expect(await ended).toBe(7);
    expect(exits).toEqual([]);
  },
);
