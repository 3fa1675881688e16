import type { Operation, Parameter } from './operation.js';
import { pathTemplate, type Slot } from './path-template.js';
import { freeName, MAX_PARAMETERS } from './read-parameters.js';

/**
 * The path with its parameters in their places. A place that the document does not describe takes any text.
 * @throws RangeError when there are too many
 */
export function readTemplate(
  path: string,
  described: readonly Parameter[],
  say: (problem: string) => void,
): Pick<Operation, 'template' | 'parameters'> {
  const inPath = described.filter((it) => it.in === 'path').map(({ name }) => name);
  const added: Parameter[] = [];
  const used = new Set<Parameter>();
  const template = pathTemplate(path, inPath).map((part) => {
    if (typeof part === 'string') return part;
    const found = parameterOf(part, described) ?? parameterOf(part, added);
    const parameter = found ?? undescribed(part, [...described, ...added]);
    if (found === undefined) {
      say(`the document does not describe the path parameter ${part.name.slice(0, 100)}: it is taken as text`);
      added.push(parameter);
      const count = described.length + added.length;
      if (count > MAX_PARAMETERS) throw new RangeError(`it has ${count} parameters; expected at most ${MAX_PARAMETERS}`);
    }
    used.add(parameter);
    return { ...part, parameter };
  });
  const parameters = [...described, ...added].filter((it) => {
    if (it.in !== 'path' || used.has(it)) return true;
    say(`its path has no place for the path parameter ${it.name.slice(0, 100)}, which is left out`);
    return false;
  });
  return { template, parameters };
}

/** Some documents repeat the operator in the name of the parameter, or write it in other letters. */
function parameterOf({ name, isInQuery }: Slot, parameters: readonly Parameter[]): Parameter | undefined {
  const candidates = parameters.filter((it) => it.in === 'path' || (isInQuery && it.in === 'query'));
  const bare = (text: string) => text.replace(/^[+*.;/]|[+*?:]$|\.\.\.$/g, '');
  return (
    candidates.find((it) => it.name === name) ??
    candidates.find((it) => bare(it.name) === name) ??
    candidates.find((it) => it.name.toLowerCase() === name.toLowerCase())
  );
}

function undescribed({ name }: Slot, others: readonly Parameter[]): Parameter {
  const argument = freeName(name, 'path', new Set(others.map((it) => it.argument)));
  const schema = { type: 'string', minLength: 1 };
  return { in: 'path', name, argument, style: 'simple', explode: false, required: true, json: false, schema };
}
