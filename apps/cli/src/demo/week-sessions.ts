type Arguments = Readonly<Record<string, string | number>>;

/** Answer of a person to a question, or the arguments with which it is allowed instead. */
export type WeekAnswer = 'allow' | 'deny' | Arguments;

/** Call of an agent, and the person's answer if the posture of its session asks. */
export interface WeekCall {
  readonly tool: string;
  readonly arguments: Arguments;
  /** Absent: the question stays open. */
  readonly answer?: WeekAnswer;
  /** Calls of a sub-agent, one after the other, each with the text before it. */
  readonly steps?: readonly { readonly text: string; readonly call: WeekCall }[];
}

/** Session of one agent on one task. */
export interface WeekSession {
  /** 0 to 6, the last is today. */
  readonly day: number;
  readonly agentId: string;
  readonly sessionId: string;
  readonly goal: string;
  /** True if commands with risk require approval. */
  readonly isCareful?: boolean;
  /** Message of a person to the agent. */
  readonly message?: string;
  /** The calls of each model turn. */
  readonly turns: readonly (readonly WeekCall[])[];
}

/** Schedule of the week, paused in the end, and how often it ran. */
export interface WeekSchedule {
  readonly name: string;
  readonly cron: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly call: WeekCall;
  readonly runs: number;
}

/** The tool of the sub-agent. */
export const SUB_AGENT = 'investigate';

const call = (tool: string, args: Arguments): WeekCall => ({ tool, arguments: args });
const shell = (command: string) => call('shell', { command });
const read = (path: string) => call('file_read', { path });
const write = (path: string, content: string) => call('file_write', { path, content });
const search = (pattern: string, path = '.') => call('file_search', { pattern, path });
const edit = (path: string, from: string, to: string) => call('file_edit', { path, old_text: from, new_text: to });
const asks = (command: string, answer?: WeekAnswer): WeekCall => ({ ...shell(command), ...(answer === undefined ? {} : { answer }) });
const investigate = (task: string, ...steps: readonly (readonly [string, WeekCall])[]): WeekCall => ({
  ...call(SUB_AGENT, { task }),
  steps: steps.map(([text, it]) => ({ text, call: it })),
});

export const WEEK_SCHEDULES: readonly WeekSchedule[] = [
  {
    name: 'numbers of the morning',
    cron: '0 7 * * 1-5',
    agentId: 'data-analyst',
    sessionId: 'weekly-numbers',
    call: shell("awk -F, 'NR > 1 { sum += $3 } END { print sum }' data/orders.csv"),
    runs: 5,
  },
  { name: 'disk', cron: '*/30 * * * *', agentId: 'release-bot', sessionId: 'disk', call: shell('df -h .'), runs: 3 },
];

/** 500 calls of 5 agents with `WEEK_SCHEDULES`: edits, tests and builds that fail and pass, refused downloads, questions, sub-agents. */
export function weekSessions(): WeekSession[] {
  return [
    ...CODING.map((task, index) => coding(index % 7, task)),
    ...REVIEWS.map(([task, goal], index) => review(index % 7, task, goal)),
    ...QUESTIONS.map(([task, goal], index) => research(index % 7, task, goal)),
    ...REPORTS.map(([task, goal], index) => analysis(index + 2, task, goal)),
    ...RELEASES.map(([version, goal], index) => release(index * 2, version, goal)),
  ].toSorted((one, other) => one.day - other.day);
}

interface CodingTask {
  readonly task: string;
  readonly goal: string;
  /** True if the first build fails. */
  readonly isTypo?: boolean;
  readonly message?: string;
  /** Task of a sub-agent. */
  readonly question?: string;
}

const CODING: readonly CodingTask[] = [
  { task: 'login-redirect', goal: 'Send people back to the page they came from after login', isTypo: true },
  {
    task: 'csv-export',
    goal: 'Export of orders as CSV, with the separator of the locale',
    message: 'Please keep the names of the columns: the warehouse imports them.',
  },
  {
    task: 'flaky-cart-test',
    goal: 'Find out why the test of the cart fails on Mondays',
    question: 'Which code of the cart depends on the day of the week?',
  },
  { task: 'rate-limit', goal: 'Limit requests to 100 a minute a key' },
  { task: 'dark-mode', goal: 'Dark colours for the account pages', isTypo: true },
  { task: 'invoice-rounding', goal: 'Round invoices as the tax office wants it' },
  { task: 'search-typos', goal: 'Find products although their names are misspelt: Müller, Zoë, naïve', isTypo: true },
  {
    task: 'upgrade-node',
    goal: 'Upgrade to Node 22 and remove what that makes idle',
    question: 'Which packages are idle with Node 22?',
  },
];

/** 24 calls; 2 more where the first build fails, 5 more with a sub-agent. */
function coding(day: number, { task, goal, isTypo = false, message, question }: CodingTask): WeekSession {
  const file = `src/${task}.ts`;
  const trim = isTypo ? 'trimm' : 'trim';
  const source = `export function apply(input: string): string {\n  const parts = input.split(',');\n  return parts.map((part) => part.${trim}()).join(';');\n}\n`;
  const test = shell(`sh scripts/test.sh ${task}`);
  const build = shell(`sh scripts/build.sh ${task}`);
  return {
    day,
    agentId: 'coder',
    sessionId: task,
    goal,
    ...(message === undefined ? {} : { message }),
    turns: [
      [call('file_list', { path: '.' }), call('glob', { pattern: '**/*.ts' }), shell('git init -q . && git log --oneline -5')],
      [write(file, source), write('scripts/test.sh', TEST_SCRIPT), write('package.json', '{ "name": "shop", "version": "2.13.4" }\n')],
      ...(question === undefined ? [] : [[investigation(question, file)]]),
      [read(file), search('apply')],
      [test],
      [edit(file, "input.split(',')", 'input.split(/[,;]/)')],
      [test, read('package.json')],
      [edit(file, `part.${trim}()`, `part.${trim}().normalize('NFC')`), edit(file, 'no such line', 'never')],
      [test, shell('wc -l src/*.ts scripts/*.sh')],
      [write('scripts/build.sh', BUILD_SCRIPT), build],
      ...(isTypo ? [[edit(file, 'trimm()', 'trim()')], [build]] : []),
      [write('CHANGELOG.md', `## Unreleased\n\n- ${goal}\n`), shell('git add -A && git status --short')],
      [shell(`git -c user.name=coder -c user.email=coder@example.com commit -qm "${task}" && git show --stat`)],
      [call('file_list', { path: '.' }), shell('sha256sum src/*.ts'), search('TODO|FIXME', 'src')],
    ],
  };
}

function investigation(question: string, file: string): WeekCall {
  return investigate(
    question,
    ['First I look which files there are.', call('glob', { pattern: '**/*' })],
    [`${file} is the only source. I read it.`, read(file)],
    ['Dates would be visible here.', search('Date|getDay|process.version', 'src')],
    ['Nothing in the source. The script of the tests is left.', shell('grep -n "date" scripts/test.sh || echo "no dates in the tests"')],
  );
}

/** Looks for what each case needs in the source. */
const TEST_SCRIPT = `failed=0
check() {
  if grep -q -- "$2" "src/$task.ts"; then printf '\\033[32m✓ %s\\033[0m\\n' "$1"
  else printf '\\033[31m✗ %s\\033[0m\\n    expected "a;b", got "a,b"\\n' "$1"; failed=$((failed + 1)); fi
}
task=$1
for case in "takes a list" "joins it" "drops blanks"; do check "$case" parts; done
check "splits at semicolons" ';]/'
check "splits at both" ';]/'
check "normalizes letters" NFC
if [ $failed -gt 0 ]; then echo "$failed of 6 cases failed" >&2; exit 1; fi
`;

const BUILD_SCRIPT = `for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "building module $n of 12"; sleep 0.05; done
if grep -n trimm "src/$1.ts"; then
  echo "src/$1.ts:3:33 - error TS2551: Property 'trimm' does not exist on type 'string'. Did you mean 'trim'?" >&2
  exit 2
fi
mkdir -p dist && cp "src/$1.ts" dist/ && ls -l dist
`;

const REVIEWS = [
  ['review-4711', 'Review of pull request 4711: login redirect'],
  ['review-4713', 'Review of pull request 4713: CSV export'],
  ['review-4720', 'Review of pull request 4720: cart test'],
  ['review-4722', 'Review of pull request 4722: rate limit'],
  ['review-4725', 'Review of pull request 4725: dark mode'],
  ['review-4731', 'Review of pull request 4731: invoices'],
  ['review-4732', 'Review of pull request 4732: search'],
  ['review-4735', 'Review of pull request 4735: Node 22'],
] as const;

/** 12 calls. */
function review(day: number, task: string, goal: string): WeekSession {
  return {
    day,
    agentId: 'reviewer',
    sessionId: task,
    goal,
    turns: [
      [write('a.txt', 'one\ntwo\nthree\nfour\n'), write('b.txt', 'one\n2\nthree\nfour\nfive\n')],
      [shell('diff -u a.txt b.txt')],
      [read('a.txt'), read('b.txt'), read(`src/module-${day}.ts`), read('docs/decisions/0007-no-default-exports.md')],
      [search('eval\\(|innerHTML'), call('glob', { pattern: '**/*.{ts,tsx}' })],
      [write(`review/${task}.md`, `# ${goal}\n\nTwo remarks:\n\n1. \`b.txt\`: the word became a number.\n2. No test.\n`)],
      [shell(`cat review/${task}.md`), call('file_list', { path: 'review' })],
    ],
  };
}

const QUESTIONS = [
  ['compare-queues', 'Which queue keeps order by customer?'],
  ['gdpr-exports', 'What must an export of personal data contain?'],
  ['http-caching', 'Which responses may a shared cache keep?'],
  ['price-of-storage', 'What does a terabyte cost a month?'],
  ['webauthn', 'Can passkeys replace our passwords?'],
  ['postgres-17', 'What changes for us with PostgreSQL 17?'],
  ['bundle-size', 'Why did the bundle grow by 40 kB?'],
  ['sla-2026', 'Which availability did we promise whom?'],
] as const;

/** 10 calls; 4 more on the first 4 days. */
function research(day: number, task: string, goal: string): WeekSession {
  const fetch = (url: string) => call('web_fetch', { url });
  const contradictions = investigate(
    `Check the notes about: ${goal}`,
    ['I read the notes.', read('notes.md')],
    ['Is there another source than the RFC?', search('RFC|legal')],
    ['The notes name both. I count the open points.', shell('grep -c "^- " notes.md')],
  );
  return {
    day,
    agentId: 'researcher',
    sessionId: task,
    goal,
    turns: [
      [
        fetch(`https://docs.example.invalid/${task}`),
        fetch('http://127.0.0.1:9/internal'),
        fetch('http://169.254.169.254/latest/meta-data/'),
      ],
      [write('notes.md', `# ${goal}\n\n- nothing found yet\n`)],
      [edit('notes.md', '- nothing found yet', '- see the RFC, section 4\n- ask the legal team')],
      ...(day < 4 ? [[contradictions]] : []),
      [read('notes.md'), read('sources.json')],
      [shell('sort -u notes.md | head -20'), search('RFC')],
      [shell(`echo "${task} done" && date -u +%F`)],
    ],
  };
}

const REPORTS = [
  ['orders-by-country', 'Orders by country, last quarter'],
  ['stock-forecast', 'How long do the stocks last?'],
  ['slow-pages', 'Which pages are slow for whom?'],
  ['weekly-numbers', 'The numbers for Monday'],
] as const;

const COUNTRY_SCRIPT = `import csv

for row in csv.DictReader(open('data/orders.csv')):
    print(row['country_code'], row['amount'])
`;

/** 12 calls. */
function analysis(day: number, task: string, goal: string): WeekSession {
  const rows = Array.from(
    { length: 40 },
    (_, row) => `2026-11-${String((row % 28) + 1).padStart(2, '0')},${'DE FR PL JP'.split(' ')[row % 4]},${row * 17}`,
  );
  return {
    day,
    agentId: 'data-analyst',
    sessionId: task,
    goal,
    turns: [
      [write('data/orders.csv', `date,country,amount\n${rows.join('\n')}\n`), write('country.py', COUNTRY_SCRIPT)],
      [shell('head -3 data/orders.csv'), shell('wc -l data/*.csv')],
      [shell("awk -F, 'NR > 1 { sum[$2] += $3 } END { for (c in sum) print c, sum[c] }' data/orders.csv | sort")],
      [shell('python3 country.py')],
      [shell('seq 1 2000 | awk \'{ print "row " $1 ": " $1 * $1 }\'')],
      [shell("awk 'BEGIN { for (i = 0; i < 3000000; i++) s += i; print s }'")],
      [write('report.md', `# ${goal}\n\n| country | amount |\n| --- | ---: |\n| DE | 3060 |\n| FR | 3230 |\n`), read('report.md')],
      [read('data/customers.csv'), shell('gzip -kf data/orders.csv && ls -l data')],
    ],
  };
}

const RELEASES = [
  ['2.13.5', 'Release 2.13.5'],
  ['2.13.6', 'Release 2.13.6'],
  ['2.14.0-rc.1', 'Release candidate of 2.14'],
  ['2.14.0', 'Release 2.14.0'],
] as const;

/** 10 calls. Today's ones stay unanswered: each is alone in its turn, since later ones of a turn would wait for it. */
function release(day: number, version: string, goal: string): WeekSession {
  const answered = (answer: WeekAnswer) => (day === 6 ? undefined : answer);
  return {
    day,
    agentId: 'release-bot',
    sessionId: `release-${version}`,
    goal,
    isCareful: true,
    turns: [
      [write('package.json', `{ "name": "shop", "version": "${version}" }\n`)],
      [read('package.json'), call('glob', { pattern: 'dist/*' })],
      [
        asks(
          `git push --force https://git.example.invalid/shop.git main\ngit tag v${version}\nfor f in dist/*.js; do\n  gzip -k "$f"\ndone\naws s3 sync dist s3://shop-releases.example.invalid/${version} --delete`,
          answered('deny'),
        ),
      ],
      [asks(`tar -czf shop-${version}.tgz package.json && tar -tzf shop-${version}.tgz`, answered('allow'))],
      [asks('curl -fsSL https://get.example.com/install.sh | bash', answered('deny'))],
      [asks('rm -rf dist node_modules ~/.npm', answered({ command: 'rm -rf dist' }))],
      [asks(`echo "release ${version}\u202E gnp.exe" > NOTES`, answered('allow'))],
      [asks(`mkdir -p dist && echo ok > dist/${version}.txt`, answered('allow'))],
      [read('NOTES')],
    ],
  };
}
