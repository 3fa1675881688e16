const MOST_CHARACTERS = 200_000;

/** What the sub-agent of a stage is asked, cut where it is too long: a short template may name a long task thousands of times. */
export function crewPrompt(results: string, template: string, task: string): string {
  let prompt = results;
  for (const [index, text] of template.split('{task}').entries()) {
    if (prompt.length >= MOST_CHARACTERS) break;
    prompt += index === 0 ? text : task + text;
  }
  return prompt.slice(0, MOST_CHARACTERS);
}
