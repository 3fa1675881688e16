import type { Sandbox } from '#sandbox';

/** Why programs of a source do not run in the sandbox; undefined when they do. Never rejects. */
export async function networkFault(sandbox: Sandbox, network: 'none' | undefined): Promise<string | undefined> {
  const { ok, detail, isolation } = await sandbox.probe();
  if (!ok) return detail;
  if (network === undefined || isolation !== 'none') return undefined;
  return `the source says \`network: none\`, and commands of this worker are not isolated: ${detail}`;
}
