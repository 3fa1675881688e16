import { Transform } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { parseExactJson } from '#contracts';

/** Lines of JSON with texts of digits for numbers that a double does not hold: the transport behind it would round them. */
export function exactLines(): Transform {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = (rest + decoder.write(chunk)).split('\n');
      rest = lines.pop() ?? '';
      done(null, lines.map((line) => `${exact(line)}\n`).join(''));
    },
    flush: (done) => done(null, rest),
  });
}

function exact(line: string): string {
  try {
    return JSON.stringify(parseExactJson(line));
  } catch {
    return line;
  }
}
