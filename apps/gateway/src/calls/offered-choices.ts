import type { JsonSchema, JsonValue, ToolDescriptor } from '#contracts';

/** Current names for arguments marked with `x-choices`. */
export type Choices = Readonly<Record<'agents' | 'skills', readonly string[]>>;

const MARK = 'x-choices';

/**
 * Built-in tool as models see it: an argument that names sub-agents or skills lists the current ones. Validation is unchanged,
 * so the tool itself answers other names. Pure.
 */
export function withChoices(tool: ToolDescriptor, choices: Choices): ToolDescriptor {
  const text = tool.source === 'builtin' ? JSON.stringify(tool.input) : '';
  if (!text.includes(`"${MARK}"`)) return tool;
  const shown = { ...tool, input: listed(tool.input, choices) };
  const isEmpty = text.includes(`"${MARK}":"skills"`) && choices.skills.length === 0 && tool.available.ok;
  return isEmpty ? { ...shown, available: { ok: false, reason: 'there are no skills for this agent' } } : shown;
}

function listed(schema: JsonSchema, choices: Choices): JsonSchema {
  const shown: JsonSchema = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key !== MARK) shown[key] = listedIn(value, choices);
    else if ((value === 'agents' || value === 'skills') && choices[value].length > 0) shown['enum'] = [...choices[value]];
  }
  return shown;
}

function listedIn(value: JsonValue, choices: Choices): JsonValue {
  if (Array.isArray(value)) return value.map((item) => listedIn(item, choices));
  return typeof value === 'object' && value !== null ? listed(value, choices) : value;
}
