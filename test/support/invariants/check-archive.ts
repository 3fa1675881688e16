import { openArchive, verifyArchive } from '#archive';

/** I14: names, hash chains, trees and signed checkpoints of an archive; nothing for an address of another kind than `file:`, whose credentials only the apps have. */
export async function checkArchive(url: string): Promise<string[]> {
  if (!url.startsWith('file:')) return [];
  const violations: string[] = [];
  const report = ({ file, fault }: { readonly file: string; readonly fault: string }) => void violations.push(`I14 ${file}: ${fault}`);
  await verifyArchive({ store: await openArchive(url, { readOnly: true }), report });
  return violations;
}
