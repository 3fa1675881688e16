/** Program that runs code of a language, with its arguments. */
export interface InterpreterDriver {
  /** Names in order of preference. */
  readonly programs: readonly string[];
  readonly args: readonly string[];
}

/*
 * Protocol: a driver reads requests from its standard input, a line of JSON each: `{"nonce", "code"}`, and runs the code in one
 * namespace for all requests. It writes the mark `\0nonce\0` to standard output when SIGINT interrupts the code and nothing
 * else, and at the end of the code the mark to both streams; on standard output a response follows, `{"value"?, "error"?,
 * "interrupted"?}` and the mark again. SIGINT has no effect while no code runs. Code can damage its own interpreter only, which
 * belongs to one session. A driver loads its own modules from its language, never from the workspace: only code may load those.
 */

const PYTHON = String.raw`
import ast, json, linecache, os, signal, site, sys, tokenize, traceback, unicodedata
LIMIT = 65536
def serve():
    requests = os.fdopen(os.dup(0), 'r', encoding='utf-8')
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdin = open(0, 'r')
    sys.argv = ['']
    sys.path[:0] = ['', *filter(None, os.environ.get('PYTHONPATH', '').split(os.pathsep))]
    sys.path.append(site.getusersitepackages())
    space = {'__name__': '__main__', '__builtins__': __builtins__}
    def put(fd, data):
        while data:
            data = data[os.write(fd, data):]
    def evaluate(code):
        tree = ast.parse(code, '<repl>')
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, '<repl>', 'exec'), space)
        if last is None:
            return None
        value = eval(compile(last, '<repl>', 'eval'), space)
        if value is None:
            return None
        space['_'] = value
        return repr(value)
    def described(error):
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != '<repl>':
            frames = frames.tb_next
        return ''.join(traceback.format_exception(type(error), error, frames))[-LIMIT:]
    def run(code, mark):
        # SIGINT may come at any line of this until it is ignored.
        try:
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                put(1, mark)
                value = evaluate(code)
                answer = {} if value is None else {'value': value[:LIMIT]}
            except KeyboardInterrupt:
                answer = {'interrupted': True}
            except BaseException as error:
                answer = {'error': described(error)}
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        except KeyboardInterrupt:
            answer = {'interrupted': True}
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        return answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in requests:
        request = json.loads(line)
        mark = ('\0' + request['nonce'] + '\0').encode()
        answer = run(request['code'], mark)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        put(1, mark + json.dumps(answer).encode() + mark)
        put(2, mark)
serve()
`;

const NODE = String.raw`
const { writeSync } = require('node:fs');
const { PassThrough } = require('node:stream');
const { createRequire } = require('node:module');
const repl = require('node:repl');
const util = require('node:util');
const LIMIT = 65536;
const rest = new Int32Array(new SharedArrayBuffer(4));
const put = (fd, data) => {
  while (data.length > 0) {
    try {
      data = data.subarray(writeSync(fd, data));
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      Atomics.wait(rest, 0, 0, 1);
    }
  }
};
// Stateless writes, since a stream that is interrupted in the middle of a write never writes again.
for (const [fd, stream] of [[1, process.stdout], [2, process.stderr]]) {
  stream.write = (chunk, encoding, callback) => {
    put(fd, typeof chunk === 'string' ? Buffer.from(chunk, typeof encoding === 'string' ? encoding : 'utf8') : chunk);
    const done = typeof encoding === 'function' ? encoding : callback;
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
}
const complain = (text) => put(2, Buffer.from(text + '\n'));
const server = repl.start({ prompt: '', input: new PassThrough(), output: new PassThrough().resume(), terminal: false, useGlobal: true, breakEvalOnSigint: true });
globalThis.require = createRequire(process.cwd() + '/repl.js');
const show = (value) => util.inspect(value, { depth: 4, maxArrayLength: 100, maxStringLength: 10000 }).slice(0, LIMIT);
const describe = (error) => (error instanceof Error ? (error.stack || String(error)).split('\n').filter((line) => !/node:|\[eval\]|REPLServer|new Promise \(<anonymous>/.test(line)).join('\n') : 'Uncaught ' + show(error)).slice(0, LIMIT);
let settle = () => {};
const interrupted = (error) => error !== null && typeof error === 'object' && error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED';
// The REPL gives what code throws to its domain.
server._domain?.removeAllListeners('error').on('error', (error) => interrupted(error) ? settle({ interrupted: true }) : settle({ error: describe(error) }) || complain(describe(error)));
const onSigint = () => settle({ interrupted: true });
// Handles a SIGINT that came too early for node:vm.
server.removeAllListeners('SIGINT').on('SIGINT', onSigint);
process.on('SIGINT', onSigint);
process.on('uncaughtException', (error) => settle({ error: describe(error) }) || complain(describe(error)));
process.on('unhandledRejection', (error) => complain(describe(error)));
// SIGINT ends the process after node:vm, until there is a new listener.
const listenAgain = () => process.removeListener('SIGINT', onSigint).on('SIGINT', onSigint);
let begin = () => {};
// Called with false when the REPL has passed SIGINT to node:vm, which counts the listeners just before it runs the code: with
// one present, it would let SIGINT end the process.
server._setRawMode = (mode) => {
  if (mode === false) process.listenerCount = () => (delete process.listenerCount, begin(), 0);
};
const run = (code, mark) =>
  new Promise((resolve) => {
    let open = true;
    begin = () => {
      begin = () => {};
      put(1, mark);
    };
    settle = (answer) => open && ((open = false), resolve(answer), true);
    server.eval(code + '\n', server.context, 'repl', (error, value) => {
      listenAgain();
      const cause = error instanceof repl.Recoverable ? error.err : error;
      if (interrupted(cause)) settle({ interrupted: true });
      else if (error) settle({ error: describe(cause) });
      else settle(value === undefined ? {} : { value: show(value) });
    });
    listenAgain();
    begin();
  });
const lines = require('node:readline').createInterface({ input: process.stdin });
let before = Promise.resolve();
lines.on('line', (line) => {
  before = before.then(async () => {
    const { nonce, code } = JSON.parse(line);
    const mark = Buffer.from('\0' + nonce + '\0');
    const answer = await run(code, mark);
    settle = () => {};
    put(1, Buffer.concat([mark, Buffer.from(JSON.stringify(answer)), mark]));
    put(2, mark);
  });
});
lines.on('close', () => process.exit());
`;

export const DRIVERS = {
  python: { programs: ['python3', 'python'], args: ['-I', '-B', '-X', 'utf8', '-u', '-c', PYTHON] },
  node: { programs: ['node', 'nodejs'], args: ['-e', NODE] },
} as const satisfies Record<string, InterpreterDriver>;

export type InterpreterLanguage = keyof typeof DRIVERS;
