/** The part of pino's logger that attempts use. */
export interface AttemptLog {
  isLevelEnabled(level: 'info' | 'warn'): boolean;
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}
