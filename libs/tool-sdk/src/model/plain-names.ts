/** Names of arguments that every model's API accepts. */
const PLAIN = /^[a-zA-Z0-9_.-]{1,64}$/;
const MAX_READ = 200;
/** Leaves room for a number of five digits. */
const MAX_BASE = 58;

/** Names that an API of a model refuses → plain ones for it, such as `filter[name]` → `filter_name`. Others are not in the map. */
export function plainNames(names: readonly string[]): ReadonlyMap<string, string> {
  const plain = new Map<string, string>();
  const odd = names.filter((name) => !PLAIN.test(name));
  if (odd.length === 0) return plain;
  const taken = new Set(names);
  const counts = new Map<string, number>();
  for (const name of odd) {
    const base = baseOf(name);
    let count = counts.get(base) ?? 1;
    while (taken.has(numbered(base, count))) count += 1;
    counts.set(base, count);
    plain.set(name, numbered(base, count));
    taken.add(numbered(base, count));
  }
  return plain;
}

function baseOf(name: string): string {
  const words = name
    .slice(0, MAX_READ)
    .split(/[^a-zA-Z0-9_.-]+/)
    .filter((word) => word !== '');
  return words.length === 0 ? 'argument' : words.join('_').slice(0, MAX_BASE);
}

function numbered(base: string, count: number): string {
  return count === 1 ? base : `${base}_${count}`;
}
