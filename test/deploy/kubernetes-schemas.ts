import ts from 'typescript';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

interface Model {
  validate(): void;
}

/** The module of kubernetes-models (or of its KEDA sister) that knows this API group. */
function moduleOf({ apiVersion }: Manifest): string {
  return apiVersion.startsWith('keda.sh/') ? `@kubernetes-models/keda/${apiVersion}` : `kubernetes-models/${apiVersion}`;
}

const nameOf = ({ kind, metadata }: Manifest) => `${kind}/${metadata.name}`;

/** Faults that the JSON Schemas of Kubernetes find: wrong types, missing fields, values out of range. They let unknown fields pass. */
export async function schemaFaults(manifests: readonly Manifest[]): Promise<string[]> {
  const faults: string[] = [];
  for (const manifest of manifests) {
    const models = (await import(moduleOf(manifest))) as Record<string, new (data: unknown) => Model>;
    const model = models[manifest.kind];
    if (!model) {
      faults.push(`${nameOf(manifest)}: ${manifest.apiVersion} has no such kind`);
      continue;
    }
    try {
      new model(manifest).validate();
    } catch (error) {
      faults.push(`${nameOf(manifest)}: ${String(error)}`);
    }
  }
  return faults;
}

/**
 * Faults that the TypeScript types of Kubernetes find, unknown fields above all: each manifest is written as an object
 * literal of its type, and the compiler refuses what the type does not have.
 */
export function typeFaults(manifests: readonly Manifest[]): string[] {
  const file = `${process.cwd()}/test/deploy/manifests.generated.ts`;
  const lines = manifests.map((manifest, index) => {
    const type = `import('${moduleOf(manifest)}').I${manifest.kind}`;
    return `export const m${index}: ${type} = ${JSON.stringify(manifest)};`;
  });
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const readReal = host.getSourceFile.bind(host);
  host.getSourceFile = (name, version, ...rest) =>
    name === file ? ts.createSourceFile(name, lines.join('\n'), version) : readReal(name, version, ...rest);
  const existsReal = host.fileExists.bind(host);
  host.fileExists = (name) => name === file || existsReal(name);

  return ts.getPreEmitDiagnostics(ts.createProgram([file], options, host)).map((diagnostic) => {
    const line =
      diagnostic.file && diagnostic.start !== undefined ? diagnostic.file.getLineAndCharacterOfPosition(diagnostic.start).line : undefined;
    const manifest = line === undefined ? undefined : manifests[line];
    return `${manifest ? nameOf(manifest) : 'types'}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')}`;
  });
}
