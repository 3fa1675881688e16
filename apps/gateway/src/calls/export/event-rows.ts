import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { CallEvent } from '#contracts';
import { upcastEvent } from '#event-log';
import type { ExportedEvent } from './export-calls.service.js';

/** Most rows of a row group, whose columns are in memory until it is full. */
const GROUP_ROWS = 10_000;
const GROUP_CHARS = 8 * 1024 * 1024;

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

interface Column {
  readonly type: Omit<SchemaElement, 'name' | 'repetition_type'>;
  readonly value: (event: CallEvent) => unknown;
}

const TEXT = { type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;
const INTEGER = { type: 'INT32' } as const;

/** Columns, one for each field of an event (CloudEvents 1.0). New fields are appended: readers use names. */
const COLUMNS: Readonly<Record<string, Column>> = {
  id: { type: TEXT, value: ({ id }) => id },
  type: { type: TEXT, value: ({ type }) => type },
  subject: { type: TEXT, value: ({ subject }) => subject },
  time: { type: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' }, value: ({ time }) => new Date(time) },
  source: { type: TEXT, value: ({ source }) => source },
  dataschema: { type: TEXT, value: ({ dataschema }) => dataschema },
  traceparent: { type: TEXT, value: ({ traceparent }) => traceparent },
  tenantid: { type: TEXT, value: ({ tenantid }) => tenantid },
  agentid: { type: TEXT, value: ({ agentid }) => agentid },
  sessionid: { type: TEXT, value: ({ sessionid }) => sessionid },
  parentcallid: { type: TEXT, value: ({ parentcallid }) => parentcallid },
  tool: { type: TEXT, value: ({ tool }) => tool },
  callver: { type: INTEGER, value: ({ callver }) => callver },
  attempt: { type: INTEGER, value: ({ attempt }) => attempt },
  fence: { type: INTEGER, value: ({ fence }) => fence },
  actor: { type: TEXT, value: ({ actor }) => actor },
  data: { type: { type: 'BYTE_ARRAY', converted_type: 'JSON' }, value: ({ data }) => data },
};

const SCHEMA: SchemaElement[] = [
  { name: 'root', num_children: Object.keys(COLUMNS).length },
  ...Object.entries(COLUMNS).map(([name, { type }]) => ({ name, ...type, repetition_type: 'OPTIONAL' as const })),
];

/** Parquet file, row group by row group. Its last bytes locate the groups, so a truncated file cannot be opened. */
export async function* eventRows(batches: AsyncIterable<readonly ExportedEvent[]>): AsyncGenerator<Uint8Array> {
  const writer = new ByteWriter();
  const file = new ParquetWriter({ writer, schema: SCHEMA, createdBy: 'toolyard' });
  let rows: CallEvent[] = [];
  let chars = 0;
  for await (const events of batches) {
    for (const { json } of events) {
      rows.push(upcastEvent(json));
      chars += json.length;
    }
    if (rows.length < GROUP_ROWS && chars < GROUP_CHARS) continue;
    await writeGroup(file, rows);
    yield drainedBytes(writer);
    [rows, chars] = [[], 0];
  }
  if (rows.length > 0) await writeGroup(file, rows);
  await file.finish();
  yield drainedBytes(writer);
}

async function writeGroup(file: ParquetWriter, rows: readonly CallEvent[]): Promise<void> {
  const columnData = Object.entries(COLUMNS).map(([name, { value }]) => ({ name, data: rows.map((event) => value(event) ?? null) }));
  await file.write({ columnData, rowGroupSize: rows.length });
}

/** Bytes written since the previous call. */
function drainedBytes(writer: ByteWriter): Uint8Array {
  const bytes = writer.getBytes().slice();
  writer.index = 0;
  return bytes;
}
