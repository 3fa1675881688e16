/** Fields of a stage that determine its order. */
export interface OrderedStage {
  readonly name: string;
  readonly depends_on: readonly string[];
}

/** Reason why the stages have no order: a duplicate name, an unknown dependency, a cycle. Undefined if they have one. Pure. */
export function crewFault(stages: readonly OrderedStage[]): string | undefined {
  const names = stages.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `Two stages are called '${twice}': give each another name`;
  for (const { name, depends_on } of stages) {
    const unknown = depends_on.find((it) => !names.includes(it));
    if (unknown !== undefined) return `Stage '${name}' depends on unknown stage '${unknown}'. Stages: ${names.join(', ')}`;
  }
  const done = new Set<string>();
  for (;;) {
    const ready = stages.filter(({ name, depends_on }) => !done.has(name) && depends_on.every((it) => done.has(it)));
    if (ready.length === 0) break;
    for (const { name } of ready) done.add(name);
  }
  const left = names.filter((name) => !done.has(name));
  return left.length === 0 ? undefined : `These stages wait for each other: ${left.join(', ')}`;
}
