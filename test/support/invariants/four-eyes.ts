import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const Approvals = z.object({ approvals: z.object({ fourEyes: z.boolean().optional() }).optional() });
const Settings = Approvals.extend({ tenants: z.record(z.string(), Approvals).optional() });

/** Four-eyes setting of each tenant in a config file; false without a file, or with one that is refused. */
export function fourEyesIn(configFile?: string): (tenantId: string) => boolean {
  const { approvals, tenants = {} } = settingsOf(configFile);
  return (tenantId) => tenants[tenantId]?.approvals?.fourEyes ?? approvals?.fourEyes ?? false;
}

function settingsOf(configFile?: string): z.infer<typeof Settings> {
  if (configFile === undefined || configFile === '') return {};
  try {
    return Settings.parse(parse(readFileSync(configFile, 'utf8')));
  } catch {
    return {};
  }
}
