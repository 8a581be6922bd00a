import { dirname, relative, resolve } from 'node:path'
import tseslint from 'typescript-eslint'
import { plainWords } from './scripts/plain-words.js'

/** Folders of rooms. Any other folder of the root is a room. */
const FLOORS = ['base', 'bmc', 'apps']

/** Others import a room by its door, `index.js`. Which room may import which says the compiler. */
const doors = {
  create: (context) => {
    const room = (file) => {
      const folders = relative(import.meta.dirname, file).split('/')
      return folders.slice(0, FLOORS.includes(folders[0]) ? 2 : 1).join('/')
    }
    const check = ({ source }) => {
      if (!source?.value?.startsWith('.')) return
      const target = resolve(dirname(context.filename), source.value)
      if (room(target) === room(context.filename) || dirname(target) === import.meta.dirname) return
      if (relative(import.meta.dirname, target) === `${room(target)}/index.js`) return
      // Each entry of the package is a door.
      if (room(target) === 'public') return
      context.report({ node: source, message: 'Import another room by its door, index.js.' })
    }
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    }
  },
}

const ambient = [
  { object: 'Date', property: 'now', message: 'Take the time from a Clock (runtime).' },
  { object: 'performance', property: 'now', message: 'Take the time from a Clock (runtime).' },
  { object: 'process', property: 'hrtime', message: 'Take the time from a Clock (runtime).' },
  { object: 'process', property: 'env', message: 'The environment is read in apps/cli/ and handed down.' },
  { object: 'Math', property: 'random', message: 'Take randomness from a Random (runtime).' },
  { object: 'AbortSignal', property: 'timeout', message: 'Use clock.sleep and an AbortController (runtime).' },
  ...[
    'randomBytes',
    'randomUUID',
    'randomInt',
    'randomFill',
    'randomFillSync',
    'getRandomValues',
    'pseudoRandomBytes',
  ].map((property) => ({ property, message: 'Take randomness from a Random (runtime).' })),
]
const ambientGlobals = ['setTimeout', 'setInterval'].map((name) => ({
  name,
  message: 'Use clock.sleep (runtime).',
}))
const ambientModules = {
  paths: [
    { name: 'node:timers/promises', message: 'Use clock.sleep (runtime).' },
    { name: 'timers/promises', message: 'Use clock.sleep (runtime).' },
    ...['node:crypto', 'crypto'].map((name) => ({
      name,
      importNames: [
        'randomBytes',
        'randomUUID',
        'randomInt',
        'randomFill',
        'randomFillSync',
        'getRandomValues',
        'webcrypto',
      ],
      message: 'Take randomness from a Random (runtime).',
    })),
    ...['node:perf_hooks', 'perf_hooks'].map((name) => ({ name, message: 'Take the time from a Clock (runtime).' })),
  ],
}

const ambientDate = {
  selector: "NewExpression[callee.name='Date'][arguments.length=0]",
  message: 'Take the time from a Clock (runtime): new Date(clock.now()).',
}

/** Text from outside reaches a terminal only through the Printer of apps/cli/output, which makes it harmless. */
const directOutput = [
  "MemberExpression[property.name='write'][object.object.name='process'][object.property.name=/^std(out|err)$/]",
  "VariableDeclarator[init.name='process'] Property[key.name=/^std(out|err)$/]",
  'CallExpression[callee.property.name=/^write(v?Sync)?$/][arguments.0.value=/^[12]$/]',
  'Literal[value=/^\\x2fdev\\x2f(stdout|stderr|tty|fd\\x2f[12])$/]',
].map((selector) => ({
  selector,
  message: 'Print with environment.stdout or environment.stderr (apps/cli/output/printer.ts).',
}))

/** One thing a line. */
const packedLines = [
  {
    selector: 'ObjectExpression > SpreadElement > ObjectExpression',
    message: 'Write the members into the literal, a line each.',
  },
  {
    selector: 'ArrayExpression > SpreadElement > ArrayExpression',
    message: 'Write the elements into the literal.',
  },
  {
    selector: "VariableDeclarator[init.type='ArrayExpression'] > ArrayPattern.id:not(:has(RestElement))",
    message: 'Write a declaration a line.',
  },
]

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'test/fixtures/'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts', '**/*.tsx'],
    languageOptions: {
      parserOptions: { project: 'tsconfig.lint.json', tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      'rooms/plain-words': 'error',
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    plugins: { rooms: { rules: { doors, 'plain-words': plainWords } } },
    rules: {
      'rooms/doors': 'error',
      'no-restricted-properties': ['error', ...ambient],
      'no-restricted-globals': ['error', ...ambientGlobals],
      'no-restricted-imports': ['error', ambientModules],
      'no-restricted-syntax': ['error', ambientDate, ...directOutput, ...packedLines],
    },
  },
  {
    // A function that does not fit on a screen usually does two things. Test suites hold many functions.
    files: ['**/*.ts', '**/*.tsx'],
    ignores: ['test/**', '**/*.test.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }] },
  },
  {
    // Here `process` and /dev/stdout are those of a simulated machine, or of a process that a terminal reads.
    files: ['machine/programs/**/*.ts', 'targets/local/pty-runner.ts'],
    rules: { 'no-restricted-syntax': ['error', ambientDate, ...packedLines] },
  },
  {
    // The adapters: the one place where each ambient thing is touched.
    files: ['base/runtime/system-*.ts', 'apps/cli/environment.ts', 'apps/ui/browser.ts'],
    rules: {
      'no-restricted-properties': 'off',
      'no-restricted-globals': 'off',
      'no-restricted-syntax': ['error', ...packedLines],
      'no-restricted-imports': 'off',
    },
  },
  {
    // Tests that cross rooms may wait for real processes; unit tests may look behind their own room's door only.
    files: ['test/**/*.ts', '**/*.test.ts'],
    rules: {
      'no-restricted-properties': 'off',
      'no-restricted-globals': 'off',
      'no-restricted-syntax': ['error', ...packedLines],
      'no-restricted-imports': 'off',
      'rooms/doors': 'off',
      'no-console': 'off',
    },
  },
)
