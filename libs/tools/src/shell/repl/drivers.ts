/** What runs code in a language: a program, and its arguments. */
export interface InterpreterDriver {
  /** In order of preference. */
  readonly programs: readonly string[];
  readonly args: readonly string[];
}

/*
 * A driver reads requests from its standard input, a line of JSON each: `{"nonce", "code"}`. It runs the code in one
 * namespace for all requests. Afterwards it writes the mark `\0nonce\0` to both streams; on standard output an answer
 * follows, `{"value"?, "error"?, "interrupted"?}` and the mark again. SIGINT interrupts the code and nothing else. Code
 * can spoil its own interpreter only, which is of one session. A driver takes its own modules from its language, never from
 * the workspace: only code may ask for those.
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
    def run(code):
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            value = evaluate(code)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            return {} if value is None else {'value': value[:LIMIT]}
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            return {'interrupted': True}
        except BaseException as error:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            frames = error.__traceback__
            while frames is not None and frames.tb_frame.f_code.co_filename != '<repl>':
                frames = frames.tb_next
            text = ''.join(traceback.format_exception(type(error), error, frames))
            return {'error': text[-LIMIT:]}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in requests:
        request = json.loads(line)
        answer = run(request['code'])
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                pass
        mark = ('\0' + request['nonce'] + '\0').encode()
        put(1, mark + json.dumps(answer).encode() + mark)
        put(2, mark)
serve()
`;

const NODE = String.raw`
const { PassThrough } = require('node:stream');
const { createRequire } = require('node:module');
const repl = require('node:repl');
const util = require('node:util');
const LIMIT = 65536;
const [put, complain] = [process.stdout.write.bind(process.stdout), process.stderr.write.bind(process.stderr)];
const server = repl.start({ prompt: '', input: new PassThrough(), output: new PassThrough().resume(), terminal: false, useGlobal: true, breakEvalOnSigint: true });
globalThis.require = createRequire(process.cwd() + '/repl.js');
const show = (value) => util.inspect(value, { depth: 4, maxArrayLength: 100, maxStringLength: 10000 }).slice(0, LIMIT);
const describe = (error) => (error instanceof Error ? (error.stack || String(error)).split('\n').filter((line) => !/node:|\[eval\]|REPLServer|new Promise \(<anonymous>/.test(line)).join('\n') : 'Uncaught ' + show(error)).slice(0, LIMIT);
let settle = () => {};
const interrupted = (error) => error !== null && typeof error === 'object' && error.code === 'ERR_SCRIPT_EXECUTION_INTERRUPTED';
// The REPL gives what code throws to its domain.
server._domain?.removeAllListeners('error').on('error', (error) => interrupted(error) ? settle({ interrupted: true }) : settle({ error: describe(error) }) || complain(describe(error) + '\n'));
const onSigint = () => settle({ interrupted: true });
process.on('SIGINT', onSigint);
process.on('uncaughtException', (error) => settle({ error: describe(error) }) || complain(describe(error) + '\n'));
process.on('unhandledRejection', (error) => complain(describe(error) + '\n'));
const run = (code) =>
  new Promise((resolve) => {
    let open = true;
    settle = (answer) => open && ((open = false), resolve(answer), true);
    // While code runs, node:vm itself takes SIGINT, and only without another listener.
    process.removeListener('SIGINT', onSigint);
    server.eval(code + '\n', server.context, 'repl', (error, value) => {
      const cause = error instanceof repl.Recoverable ? error.err : error;
      if (interrupted(cause)) settle({ interrupted: true });
      else if (error) settle({ error: describe(cause) });
      else settle(value === undefined ? {} : { value: show(value) });
    });
    process.on('SIGINT', onSigint);
  });
const lines = require('node:readline').createInterface({ input: process.stdin });
let before = Promise.resolve();
lines.on('line', (line) => {
  before = before.then(async () => {
    const { nonce, code } = JSON.parse(line);
    const answer = await run(code);
    settle = () => {};
    const mark = '\0' + nonce + '\0';
    put(mark + JSON.stringify(answer) + mark);
    complain(mark);
  });
});
lines.on('close', () => process.exit());
`;

export const DRIVERS = {
  python: { programs: ['python3', 'python'], args: ['-I', '-B', '-X', 'utf8', '-u', '-c', PYTHON] },
  node: { programs: ['node', 'nodejs'], args: ['-e', NODE] },
} as const satisfies Record<string, InterpreterDriver>;

export type InterpreterLanguage = keyof typeof DRIVERS;
