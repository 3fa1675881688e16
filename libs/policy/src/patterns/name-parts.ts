/**
 * Forms of a tool name or a pattern in policies: `read`, `rea*` (`plain`); `@git`, `@git/status`, `@git/st*` (`source`; without
 * `name` all tools of the source); `#reviewer` (`agent`).
 */
export type NameParts =
  | { readonly kind: 'plain'; readonly name: string }
  | { readonly kind: 'source'; readonly source: string; readonly name?: string | undefined }
  | { readonly kind: 'agent'; readonly name: string };

/** Every text is a name. Pure, and the inverse of `printName`. */
export function parseName(text: string): NameParts {
  if (text.startsWith('#')) return { kind: 'agent', name: text.slice(1) };
  if (!text.startsWith('@')) return { kind: 'plain', name: text };
  const slash = text.indexOf('/');
  if (slash === -1) return { kind: 'source', source: text.slice(1) };
  return { kind: 'source', source: text.slice(1, slash), name: text.slice(slash + 1) };
}

export function printName(written: NameParts): string {
  switch (written.kind) {
    case 'plain':
      return written.name;
    case 'agent':
      return `#${written.name}`;
    case 'source':
      return written.name === undefined ? `@${written.source}` : `@${written.source}/${written.name}`;
    default:
      return written satisfies never;
  }
}
