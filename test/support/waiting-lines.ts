/** Output of a process without the lines about waiting, which appear on a slow machine. */
export function withoutWaitingLines(text: string): string {
  return text.replaceAll(/^(Redis does not answer|Waiting for ).*\n/gm, '');
}
