import type { createLowlight } from 'lowlight';
import { useEffect, useState } from 'react';

/** A piece of code; `token` names its class in the style sheet of highlight.js. */
export interface CodeToken {
  readonly text: string;
  readonly token: string | undefined;
}

type Nodes = ReturnType<ReturnType<typeof createLowlight>['highlight']>['children'];
type Highlighter = (code: string, language: string) => readonly CodeToken[] | undefined;

/** Longer code is shown plain: highlighting it would freeze the page. */
const MOST_CHARS = 50_000;

const LANGUAGES: Readonly<Record<string, string>> = {
  js: 'javascript',
  mjs: 'javascript',
  cjs: 'javascript',
  jsx: 'javascript',
  ts: 'typescript',
  mts: 'typescript',
  tsx: 'typescript',
  py: 'python',
  rs: 'rust',
  rb: 'ruby',
  sh: 'bash',
  bash: 'bash',
  yml: 'yaml',
  md: 'markdown',
  html: 'xml',
  svg: 'xml',
  h: 'c',
  cc: 'cpp',
  hpp: 'cpp',
  cs: 'csharp',
  kt: 'kotlin',
};

/** Language by the ending of a file's name. */
export function languageOf(path: string): string {
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return LANGUAGES[ending] ?? ending;
}

let loading: Promise<Highlighter> | undefined;

/** The languages are a file of their own, loaded once, with the first code that is shown or before. */
export async function loadLanguages(): Promise<Highlighter> {
  loading ??= load();
  return loading;
}

async function load(): Promise<Highlighter> {
  const { common, createLowlight } = await import('lowlight');
  const lowlight = createLowlight(common);
  return (code, language) => (lowlight.registered(language) ? tokensOf(lowlight.highlight(language, code).children) : undefined);
}

/** The code in tokens; one piece until the languages are there, and for a language that is not known. */
export function useTokens(code: string, language: string): readonly CodeToken[] {
  const [tokens, setTokens] = useState<{ readonly of: string; readonly tokens: readonly CodeToken[] }>();
  useEffect(() => {
    if (code.length > MOST_CHARS) return;
    let wanted = true;
    loadLanguages().then(
      (highlight) => {
        const found = highlight(code, language);
        if (wanted && found) setTokens({ of: code, tokens: found });
      },
      () => {
        loading = undefined; // Plain text is readable too; the next code tries again.
      },
    );
    return () => {
      wanted = false;
    };
  }, [code, language]);
  return tokens?.of === code ? tokens.tokens : [{ text: code, token: undefined }];
}

function tokensOf(nodes: Readonly<Nodes>, token?: string): CodeToken[] {
  return nodes.flatMap((node) => {
    if (node.type === 'text') return [{ text: node.value, token }];
    if (node.type !== 'element') return [];
    const names = node.properties['className'];
    const own = Array.isArray(names) ? String(names[0]).replace('hljs-', '') : token;
    return tokensOf(node.children, own);
  });
}
