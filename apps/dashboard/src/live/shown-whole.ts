import type { Call, JsonValue, ToolDescriptor } from '#contracts';
import { subjectText } from '#subject';

const MAX_CHARS = 80;
/** Words of visible ASCII with one space between them: nothing hidden, nothing that looks like something else. */
const PLAIN = /^[!-~]+(?: [!-~]+)*$/;

/** True if the line shows everything that the call does, so that it can be allowed where only the line is visible. */
export function isShownWhole(
  line: string,
  call: Pick<Call, 'arguments' | 'argumentsRedacted'>,
  tool: Pick<ToolDescriptor, 'input' | 'subjects'>,
): boolean {
  if (typeof call.arguments !== 'object' || call.arguments === null || Array.isArray(call.arguments)) return false;
  const [argument, ...others] = Object.entries(call.arguments).filter(([name, value]) => !isDefault(tool.input, name, value));
  return (
    argument !== undefined &&
    others.length === 0 &&
    typeof argument[1] === 'string' &&
    PLAIN.test(argument[1]) &&
    isShort(line) &&
    call.argumentsRedacted !== true &&
    line === subjectText(JSON.stringify(call.arguments), tool.subjects)
  );
}

/** Arguments that the caller leaves out are stored with the default of the schema: yes, no or a number. */
function isDefault({ properties }: ToolDescriptor['input'], name: string, value: JsonValue): boolean {
  if (typeof value !== 'boolean' && typeof value !== 'number') return false;
  const property: unknown = typeof properties === 'object' && properties !== null ? Reflect.get(properties, name) : undefined;
  return typeof property === 'object' && property !== null && Reflect.get(property, 'default') === value;
}

/** Short enough to be shown without a cut. */
export function isShort(line: string): boolean {
  return line.length <= MAX_CHARS;
}
