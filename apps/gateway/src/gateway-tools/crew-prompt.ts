const MOST_CHARACTERS = 200_000;

/** Prompt for the sub-agent of a stage. Cut to a limit: a short template may repeat a long task thousands of times. */
export function crewPrompt(results: string, template: string, task: string): string {
  let prompt = results;
  for (const [index, text] of template.split('{task}').entries()) {
    if (prompt.length >= MOST_CHARACTERS) break;
    prompt += index === 0 ? text : task + text;
  }
  return prompt.slice(0, MOST_CHARACTERS);
}
