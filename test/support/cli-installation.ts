import { ToolyardClient } from '#client';
import { startCli, type CliOptions, type CliProcess } from './cli.js';
import { cleanUp } from './standalone.js';
import { TEST_KEY, startTestCluster, type TestCluster } from './test-cluster.js';

/** An installation with a database, the command line tool that calls it, and a client to look at what it did. */
export class CliInstallation {
  readonly client: ToolyardClient;

  private constructor(readonly toolyard: TestCluster) {
    this.client = new ToolyardClient({ baseUrl: this.url, apiKey: TEST_KEY });
  }

  static async start(): Promise<CliInstallation> {
    return new CliInstallation(await startTestCluster({ lists: true }));
  }

  private get url(): string {
    return this.toolyard.gateways[0]!.url;
  }

  /** Starts a command. */
  command(words: readonly string[], options: Partial<CliOptions> = {}): CliProcess {
    return startCli(words, { url: this.url, ...options });
  }

  /** Runs a command to its end. */
  run(words: readonly string[], options: Partial<CliOptions> = {}): ReturnType<CliProcess['ended']> {
    return this.command(words, options).ended();
  }

  async close(): Promise<void> {
    await this.toolyard.close();
    await cleanUp();
  }
}
