const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE, BRACKET_END, BRACE_END] = [34, 92, 44, 91, 123, 93, 125];

/**
 * Number of parts of JSON, up to one more than `most`: members of objects and items of lists at any depth, and containers. Found in
 * the text, since parsing costs many times as much. A malformed text may give any number.
 */
export function countParts(json: string, most: number): number {
  let parts = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if ((code === COMMA || code === BRACKET || code === BRACE) && ++parts > most) return parts;
  }
  return parts;
}

/** True for JSON with more than this many parts. */
export function hasMoreParts(json: string, most: number): boolean {
  return json.length > most && countParts(json, most) > most;
}

/**
 * True for JSON with an object of more members than this. An object of many members costs several times as much as the same
 * number of items, or of members of small objects: an engine keeps them in a hash table.
 */
export function hasLargerObject(json: string, most: number): boolean {
  if (!hasMoreParts(json, most)) return false;
  // Members so far of each open container; a list has none.
  const open: number[] = [];
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfText(json, at);
    else if (code === BRACE) open.push(1);
    else if (code === BRACKET) open.push(-Infinity);
    else if (code === BRACE_END || code === BRACKET_END) open.pop();
    else if (code === COMMA) {
      const members = (open.pop() ?? -Infinity) + 1;
      if (members > most) return true;
      open.push(members);
    }
  }
  return false;
}

/** Index of the closing quote. */
function endOfText(json: string, opening: number): number {
  for (let at = json.indexOf('"', opening + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let before = at;
    while (json.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((at - before) % 2 === 0) return at;
  }
  return json.length;
}
