export interface RedisServer {
  readonly port: number;
  readonly url: string;
  readonly pid: number | undefined;
  start(): Promise<void>;
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): boolean;
  stop(): Promise<void>;
}
export function startRedisServer(options?: { port?: number; settings?: readonly string[]; dir?: string }): Promise<RedisServer>;
