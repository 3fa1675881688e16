import type { Logger } from 'pino';

/** The logger of this process (pino). */
export const LOGGER = Symbol('LOGGER');

export type WorkerLog = Logger;
