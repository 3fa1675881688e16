import { renameSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';
import { ConfigFile, type Diagnostics } from '#contracts';
import { sha256Hex } from '#redis';
import { Agent } from '../agent.js';
import { eventually } from '../eventually.js';

type Content = z.input<typeof ConfigFile>;

/** Part of the config file that belongs to one tenant. */
export interface ConfigFragment {
  readonly tenantId: string;
  readonly keys: NonNullable<Content['keys']>;
  readonly settings: NonNullable<Content['tenants']>[string];
  readonly sources: NonNullable<Content['sources']>;
}

/** The config file of an installation that many test files share: each adds its fragment, and none is removed. */
export class InstallationConfig {
  private content: Content = {};
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly path: string) {
    this.write();
  }

  /**
   * Adds a fragment and waits until every gateway has the file in force. One fragment at a time.
   * @throws when the file would be invalid, or a gateway refuses it; then it is as before.
   */
  add(fragment: ConfigFragment, gateways: readonly Agent[]): Promise<void> {
    const added = this.last.then(() => this.replace(withFragment(this.content, fragment), gateways));
    this.last = added.catch(() => {});
    return added;
  }

  private async replace(content: Content, gateways: readonly Agent[]): Promise<void> {
    const before = this.content;
    const { error } = ConfigFile.safeParse(content);
    if (error !== undefined) throw new Error(`the configuration of the tenant is invalid: ${error.message}`);
    this.content = content;
    const digest = this.write();
    try {
      await Promise.all(gateways.map((gateway) => isInForce(gateway, digest)));
    } catch (error_) {
      this.content = before;
      this.write();
      throw error_;
    }
  }

  private write(): string {
    const text = JSON.stringify(this.content);
    writeFileSync(`${this.path}.new`, text);
    renameSync(`${this.path}.new`, this.path);
    return sha256Hex(text);
  }
}

function withFragment({ keys = [], tenants = {}, sources = [] }: Content, fragment: ConfigFragment): Content {
  return {
    keys: [...keys, ...fragment.keys],
    tenants: { ...tenants, [fragment.tenantId]: fragment.settings },
    sources: [...sources, ...fragment.sources],
  };
}

async function isInForce(gateway: Agent, digest: string): Promise<void> {
  let warnings: readonly string[] = [];
  await eventually(
    async () => {
      const { body } = await gateway.get<Diagnostics>('/v1/diagnostics');
      ({ warnings } = body);
      if (warnings.some((warning) => warning.includes('was refused'))) throw new Error(warnings.join('\n'));
      return body.config?.sha256 === digest;
    },
    () => `${gateway.url} to have the config file in force; its warnings: ${JSON.stringify(warnings)}`,
  );
}
