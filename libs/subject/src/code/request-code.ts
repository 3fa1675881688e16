import type { JsonValue } from '#contracts';
import { pythonLiteral, shellWord } from './literals.js';

/** A request to a gateway. */
export interface HttpRequest {
  /** Upper-case method. */
  readonly method: string;
  /** Path with query; variable parts are percent-encoded. */
  readonly path: string;
  /** Besides that with the key. */
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the request needs a key, which the code reads from `TOOLYARD_API_KEY`. */
  readonly needsKey: boolean;
  /** A text is sent as it is, anything else as JSON. */
  readonly body?: JsonValue;
  /** The answer comes bit by bit, perhaps without end. */
  readonly streams?: boolean;
}

const LOCAL = 'http://127.0.0.1:7411';
const KEY = 'TOOLYARD_API_KEY';

/** Command for the gateway at `baseUrl`. Default: `TOOLYARD_URL`, else the address of `npm start`; the same in the other languages. */
export function requestAsCurl({ method, path, headers = {}, needsKey, body, streams = false }: HttpRequest, baseUrl?: string): string {
  const url = baseUrl === undefined ? `"\${TOOLYARD_URL:-${LOCAL}}${path}"` : shellWord(baseUrl + path);
  const isUsual = method === (body === undefined ? 'GET' : 'POST');
  return [
    `curl -sS${streams ? 'N' : ''} ${isUsual ? '' : `-X ${method} `}${url}`,
    ...(needsKey ? [`-H "Authorization: Bearer $${KEY}"`] : []),
    ...Object.entries(headers).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shellWord(typeof body === 'string' ? body : JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}

/** Code for Node with `fetch`, valid as TypeScript and JavaScript. */
export function requestAsTypeScript({ method, path, headers = {}, needsKey, body, streams = false }: HttpRequest): string {
  const fields = [
    ...(needsKey ? [`Authorization: \`Bearer \${process.env.${KEY}}\``] : []),
    ...Object.entries(headers).map(
      ([name, value]) => `${/^[A-Za-z]+$/.test(name) ? name : JSON.stringify(name)}: ${JSON.stringify(value)}`,
    ),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: ${JSON.stringify(method)}`]),
    ...(fields.length === 0 ? [] : [`headers: { ${fields.join(', ')} }`]),
    ...(body === undefined
      ? []
      : [`body: ${typeof body === 'string' ? JSON.stringify(body) : `JSON.stringify(${JSON.stringify(body, null, 2)})`}`]),
  ];
  const settings = options.length === 0 ? '' : `, {\n${indented(options.join(',\n'), '  ')},\n}`;
  const end = streams
    ? 'for await (const piece of response.body ?? []) process.stdout.write(piece);'
    : 'console.log(response.status, await response.text());';
  return `const url = process.env.TOOLYARD_URL ?? '${LOCAL}';\nconst response = await fetch(url + ${JSON.stringify(path)}${settings});\n${end}\n`;
}

/** Code for Python 3.9 and its standard library. */
export function requestAsPython({ method, path, headers = {}, needsKey, body, streams = false }: HttpRequest): string {
  const fields = [
    ...(needsKey ? [`"Authorization": "Bearer " + os.environ["${KEY}"]`] : []),
    ...Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`),
  ];
  const data = typeof body === 'string' ? pythonLiteral(body) : `json.dumps(${pythonLiteral(body ?? null)})`;
  const options = [
    `url + ${JSON.stringify(path)}`,
    ...(method === 'GET' ? [] : [`method=${JSON.stringify(method)}`]),
    ...(fields.length === 0 ? [] : [`headers={${fields.join(', ')}}`]),
    ...(body === undefined ? [] : [`data=${data}.encode()`]),
  ];
  const modules = [...(body === undefined || typeof body === 'string' ? [] : ['json']), 'os', 'urllib.request'];
  const end = streams ? 'for line in response:\n    print(line.decode(), end="")' : 'print(response.status, response.read().decode())';
  return `import ${modules.join(', ')}

url = os.environ.get("TOOLYARD_URL", "${LOCAL}")
request = urllib.request.Request(
${indented(options.join(',\n'), '    ')},
)
with urllib.request.urlopen(request) as response:
${indented(end, '    ')}
`;
}

function indented(text: string, by: string): string {
  return by + text.replaceAll('\n', `\n${by}`);
}
