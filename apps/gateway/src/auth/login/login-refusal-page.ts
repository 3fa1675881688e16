import type { ProblemError } from '#contracts';

export const REFUSAL_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Page for a failed login. Needs no script. */
export function loginRefusalPage({
  code,
  detail,
  problemTitle,
}: Pick<ProblemError, 'code' | 'detail'> & { readonly problemTitle: string }): string {
  const again = code === 'not_implemented' ? '' : '<a class="button" href="/v1/login">Try again</a>';
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Not signed in · Toolyard</title>
    <style>
      :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
      body { margin: 0; min-height: 100dvh; display: grid; place-items: center; padding: 1rem; box-sizing: border-box; }
      main { max-width: 30rem; border: 1px solid color-mix(in srgb, CanvasText 25%, Canvas); border-radius: 8px; padding: 1.5rem 2rem; }
      h1 { font-size: 1.4rem; margin: 0 0 0.5rem; }
      p { overflow-wrap: anywhere; }
      .links { display: flex; gap: 1rem; align-items: center; flex-wrap: wrap; }
      a { color: LinkText; }
    </style>
  </head>
  <body>
    <main>
      <h1>Not signed in</h1>
      <p>${escaped(problemTitle)}. ${escaped(detail)}</p>
      <p class="links">${again}<a href="/">Use an API key</a></p>
    </main>
  </body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
