import { renameSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';
import { ConfigFile, type Diagnostics } from '#contracts';
import { sha256Hex } from '#redis';
import { Agent } from '../agent.js';
import { eventually } from '../eventually.js';
import { HELD } from './held-calls.js';

type Content = z.input<typeof ConfigFile>;

/** Part of the config file that belongs to one tenant. */
export interface ConfigFragment {
  readonly tenantId: string;
  readonly keys: NonNullable<Content['keys']>;
  readonly settings: NonNullable<Content['tenants']>[string];
  readonly sources: NonNullable<Content['sources']>;
}

/** The config file of an installation that many test files share: each sets its fragment, and none is removed. */
export class InstallationConfig {
  private fragments: ReadonlyMap<string, ConfigFragment> = new Map();
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly path: string) {
    this.write();
  }

  /**
   * Sets the fragment of a tenant and waits until every gateway has the file in force. One fragment at a time.
   * @throws when the file would be invalid, or a gateway refuses it; then it is as before.
   */
  set(fragment: ConfigFragment, gateways: readonly Agent[]): Promise<void> {
    const isSet = this.last.then(() => this.replace(new Map([...this.fragments, [fragment.tenantId, fragment]]), gateways));
    this.last = isSet.catch(() => {});
    return isSet;
  }

  private async replace(fragments: ReadonlyMap<string, ConfigFragment>, gateways: readonly Agent[]): Promise<void> {
    const before = this.fragments;
    this.fragments = fragments;
    try {
      const digest = this.write();
      await Promise.all(gateways.map((gateway) => isInForce(gateway, digest)));
    } catch (error) {
      this.fragments = before;
      this.write();
      throw error;
    }
  }

  /** @throws when the content is invalid */
  private write(): string {
    const all = [...this.fragments.values()];
    const content: Content = {
      // Results of the tests' own tools come without the mark of content from outside.
      safety: { provenance: { trusted: [HELD] } },
      keys: all.flatMap(({ keys }) => keys),
      tenants: Object.fromEntries(all.map(({ tenantId, settings }) => [tenantId, settings])),
      sources: all.flatMap(({ sources }) => sources),
    };
    const { error } = ConfigFile.safeParse(content);
    if (error !== undefined) throw new Error(`the configuration of the tenant is invalid: ${error.message}`);
    const text = JSON.stringify(content);
    writeFileSync(`${this.path}.new`, text);
    renameSync(`${this.path}.new`, this.path);
    return sha256Hex(text);
  }
}

async function isInForce(gateway: Agent, digest: string): Promise<void> {
  let warnings: Diagnostics['warnings'] = [];
  await eventually(
    async () => {
      const { body } = await gateway.get<Diagnostics>('/v1/diagnostics');
      ({ warnings } = body);
      if (warnings.some(({ message }) => message.includes('was refused'))) throw new Error(JSON.stringify(warnings));
      return body.config?.sha256 === digest;
    },
    () => `${gateway.url} to have the config file in force; its warnings: ${JSON.stringify(warnings)}`,
  );
}
