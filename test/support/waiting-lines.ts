/** What a process wrote, without the lines that a start on a slow machine adds: about what it waits for. */
export function withoutWaitingLines(text: string): string {
  return text.replaceAll(/^(Redis does not answer|Waiting for ).*\n/gm, '');
}
