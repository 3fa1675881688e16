/** `412 ms`, `3.4 s`, `2 m 5 s`, `3 h 12 m`, `2 d 4 h`. */
export function durationText(ms: number): string {
  const abs = Math.max(0, ms);
  if (abs < 1) return abs === 0 ? '0 ms' : '<1 ms';
  if (abs < 999.5) return `${Math.round(abs)} ms`;
  if (abs < 9950) return `${(abs / 1000).toFixed(1)} s`;
  if (abs < 59_500) return `${Math.round(abs / 1000)} s`;
  const seconds = Math.round(abs / 1000);
  if (seconds < 3600) return parts(Math.floor(seconds / 60), 'm', seconds % 60, 's');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1440) return parts(Math.floor(minutes / 60), 'h', minutes % 60, 'm');
  return parts(Math.floor(minutes / 1440), 'd', Math.floor((minutes % 1440) / 60), 'h');
}

function parts(major: number, majorUnit: string, minor: number, minorUnit: string): string {
  return minor === 0 ? `${major} ${majorUnit}` : `${major} ${majorUnit} ${minor} ${minorUnit}`;
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
] as const;

/** Duration in the largest unit: `0s`, `12s`, `6m`, `3h`, `2d`. */
export function shortText(ms: number): string {
  const [unitMs, unit] = UNITS.find(([each]) => ms >= each) ?? [1000, 's'];
  return `${Math.max(0, Math.floor(ms / unitMs))}${unit}`;
}

/** `just now`, `12s ago`, `6m ago`, `3h ago`, `2d ago`. */
export function agoText(ms: number): string {
  return ms < 2000 ? 'just now' : `${shortText(ms)} ago`;
}

export function clockText(at: number): string {
  return new Date(at).toLocaleTimeString(undefined, { hour12: false });
}

export function momentText(at: number): string {
  return `${new Date(at).toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' })}, ${clockText(at)}`;
}
