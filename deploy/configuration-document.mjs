// Writes the tables of deploy/CONFIGURATION.md: variables from the schemas of the apps, fields of the config file from its schema.
// A table stands between `<!-- variables: A, B -->` or `<!-- fields: policy -->` and `<!-- end -->`; all else is prose.
// `npm run generate` renews the file; test/deploy/readme.spec.ts fails when it differs.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const TABLE = /<!-- (variables|fields): (.+?) -->\n[\s\S]*?<!-- end -->/g;
const DISCRIMINATOR = 'Which kind it is; each kind has its own fields.';
const DOCUMENT = new URL('CONFIGURATION.md', import.meta.url);

/**
 * The document with its tables renewed.
 *
 * @param apps the schema of each app's variables, by the name of the app
 * @param file the schema of the config file
 * @throws when a table names what no schema has, a variable or field has no description, or one is in no table or in two
 */
export function renewed(text, { apps, file }) {
  const variables = variablesOf(apps);
  const fields = { ...fileFields(file) };
  const shown = new Set();
  const take = (table, name) => {
    if (!Object.hasOwn(table, name)) throw new Error(`deploy/CONFIGURATION.md: ${name} is in no schema, or a second time in a table`);
    const rows = table[name];
    delete table[name];
    shown.add(name);
    return rows;
  };
  const result = text.replaceAll(TABLE, (_table, kind, names) => {
    const list = names.split(', ');
    const rows = list.flatMap((name) => take(kind === 'variables' ? variables : fields, name));
    const head = kind === 'variables' ? ['variable', 'type', 'default', 'app', 'meaning'] : ['field', 'type', 'default', 'meaning'];
    return `<!-- ${kind}: ${names} -->\n${[head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n<!-- end -->`;
  });
  const left = [...Object.keys(variables), ...Object.keys(fields)];
  if (left.length > 0) throw new Error(`deploy/CONFIGURATION.md: expected a table with ${left.join(', ')}`);
  return result;
}

/** Name → its one row. The description stands in one schema only, whichever apps read the variable. */
function variablesOf(apps) {
  const rows = {};
  for (const name of new Set(Object.values(apps).flatMap((schema) => Object.keys(schema.shape)))) {
    const readers = Object.keys(apps).filter((app) => Object.hasOwn(apps[app].shape, name));
    const schemas = readers.map((app) => apps[app].shape[name]);
    const described = new Set(schemas.map(({ description }) => description).filter((text) => text !== undefined));
    if (described.size !== 1)
      throw new Error(`${name}: expected one description in the schemas of ${readers.join(', ')}; got ${described.size}`);
    const schema = schemas.find(({ description }) => description !== undefined);
    const { shownDefault, shownType } = schema.meta();
    const { type, preset } = factsOf(schema);
    rows[name] = [[`\`${name}\``, shownType ?? type, shownDefault ?? preset, appsText(readers), cell(schema.description)]];
  }
  return rows;
}

function appsText(readers) {
  if (!['gateway', 'worker'].every((app) => readers.includes(app))) return readers.join(', ');
  const others = readers.filter((app) => !['gateway', 'worker'].includes(app));
  return others.length === 0 ? 'both' : others.includes('projector') && others.length === 1 ? 'both, projector' : 'all';
}

function factsOf(schema) {
  const options = { unrepresentable: 'any' };
  const input = z.toJSONSchema(schema, { ...options, io: 'input' });
  const output = z.toJSONSchema(schema, { ...options, io: 'output' });
  const known = ['number', 'integer'].includes(output.type) ? { ...output, ...boundsOf(output) } : input;
  const preset = output.default ?? input.default;
  return {
    type: typeText(resolved(known, known), known),
    preset: preset === undefined || preset === '' || isEmpty(preset) ? 'none' : code(preset),
  };
}

function boundsOf({ minimum, maximum }) {
  return { minimum, maximum };
}

/** Section → the rows of its fields: for each field of the file, and for what an agent and a tenant have. */
function fileFields(schema) {
  const root = z.toJSONSchema(schema, { io: 'input' });
  const sections = {};
  for (const [name, field] of Object.entries(root.properties)) sections[name] = rowsOf(name, field, root);
  return sections;
}

/** Rows of a field and all below it. Parts with a description elsewhere in the file are named, not repeated. */
function rowsOf(path, field, root) {
  const schema = resolved(field, root);
  const description = field.description ?? schema.description;
  if (description === undefined) throw new Error(`${path} of the config file: expected a description in its schema`);
  const same = sameAs(path);
  const type = same === undefined ? typeText(schema, root) : `as \`${same}\``;
  const preset =
    field.default === undefined || (isNode(field.default) && !(Array.isArray(field.default) && field.default.length > 0))
      ? ''
      : code(field.default);
  const row = [`\`${path}\``, type, preset, cell(description)];
  return [row, ...(same === undefined ? below(path, schema, root) : [])];
}

function below(path, schema, root) {
  if (schema.items !== undefined) return fieldsOf(`${path}[]`, schema.items, root);
  if (isNode(schema.additionalProperties)) return fieldsOf(`${path}.*`, schema.additionalProperties, root);
  return schema.properties === undefined ? [] : fieldsOf(path, schema, root);
}

function fieldsOf(path, schema, root) {
  return Object.entries(propertiesOf(schema, root)).flatMap(([name, field]) => rowsOf(`${path}.${name}`, field, root));
}

/** Properties of a schema; for a union, those of all its variants. A field that distinguishes variants may have any of their values. */
function propertiesOf(schema, root) {
  const { properties = {}, anyOf, oneOf = anyOf ?? [] } = resolved(schema, root);
  const all = { ...properties };
  for (const variant of oneOf)
    for (const [name, field] of Object.entries(propertiesOf(variant, root)))
      all[name] = all[name] === undefined ? field : together(all[name], field, root);
  return all;
}

function together(known, field, root) {
  const found = [known, field].flatMap((it) => (it.const === undefined ? (it.discriminates ?? []) : [it.const]));
  const values = [...new Set(found)];
  if (found.length > 1) return { description: known.description ?? DISCRIMINATOR, enum: values, discriminates: values };
  const names = [known, field].map((it) => Object.keys(propertiesOf(it, root)).join());
  if (names[0] === names[1] || names.includes('')) return known;
  return { description: `${known.description} ${field.description}`, anyOf: [known, field] };
}

/** Agents and tenants have again what the file has for all agents. */
function sameAs(path) {
  const [, of] = /^(?:agents\.\*|tenants\.\*\.agents\.\*|tenants\.\*)\.(policy|limits|hooks)$/.exec(path) ?? [];
  if (of !== undefined) return of;
  if (path === 'tenants.*.agents') return 'agents';
  return path === 'agents.*.posture' || path === 'tenants.*.posture' ? 'defaults.posture' : undefined;
}

function resolved(schema, root) {
  const { $ref } = schema;
  return $ref === undefined ? schema : { ...root.$defs[$ref.replace('#/$defs/', '')], ...schema };
}

function typeText(schema, root) {
  const { type, enum: values, items, minimum, maximum, anyOf, oneOf } = schema;
  const union = anyOf ?? oneOf;
  if (values) return values.map((value) => `\`${value}\``).join(', ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (union) return [...new Set(union.map((part) => typeText(resolved(part, root), root)))].join(' or ');
  if (type === 'array') return `list of ${typeText(resolved(items, root), root)}`;
  if (type === 'boolean') return '`true` or `false`';
  if (type === 'integer' || type === 'number') return numberText(minimum, maximum);
  return type === 'object' ? 'object' : 'text';
}

function numberText(least, most) {
  const bounds = [
    least === undefined || least < -1e15 ? undefined : `from ${least}`,
    most === undefined || most > 1e15 ? undefined : `to ${most}`,
  ];
  return ['number', ...bounds.filter((text) => text !== undefined)].join(' ');
}

function isNode(value) {
  return typeof value === 'object' && value !== null;
}

function isEmpty(value) {
  return isNode(value) && Object.keys(value).length === 0;
}

const code = (value) => `\`${typeof value === 'string' ? value : Array.isArray(value) ? value.join(',') : JSON.stringify(value)}\``;
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [{ GatewayEnv }, { WorkerEnv }, { ProjectorEnv }, { StandaloneEnv }, { CliEnv }, { ConfigFile }] = await Promise.all(
    [
      'apps/gateway/src/platform/gateway-env.config.js',
      'apps/worker/src/platform/worker-env.config.js',
      'apps/projector/src/projector.config.js',
      'apps/standalone/src/standalone.config.js',
      'apps/cli/src/cli.config.js',
      'libs/contracts/src/index.js',
    ].map((path) => import(new URL(`../dist/${path}`, import.meta.url).href)),
  );
  const apps = { gateway: GatewayEnv, worker: WorkerEnv, projector: ProjectorEnv, standalone: StandaloneEnv, cli: CliEnv };
  writeFileSync(DOCUMENT, renewed(readFileSync(DOCUMENT, 'utf8'), { apps, file: ConfigFile }));
}
