import { closeSync, readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;
const LAST_STANDARD = 2;

/**
 * Closes descriptors inherited from the parent process, which commands of calls would inherit, too. Descriptors that Node opens
 * are closed on exec; of inherited ones it marks the first sixteen, and those after them up to the first gap. Descriptors in
 * the environment such as `/dev/fd/63` stay open, since settings are read from there. Called before anything is opened. No
 * effect outside of Linux.
 */
export function closeInheritedDescriptors(env: Readonly<Record<string, string | undefined>>): void {
  const named = new Set(Object.values(env).flatMap((value) => /^\/(?:dev|proc\/self)\/fd\/(\d+)$/.exec(value ?? '')?.[1] ?? []));
  for (const name of listOrNothing('/proc/self/fdinfo')) {
    if (Number(name) > LAST_STANDARD && !named.has(name) && isInheritable(name)) closeSync(Number(name));
  }
}

function listOrNothing(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isInheritable(descriptor: string): boolean {
  try {
    const flags = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The descriptor of the list itself is already closed.
    return false;
  }
}
